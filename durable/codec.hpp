// SPDX-License-Identifier: MIT
#pragma once

#ifndef MSGPACK_NO_BOOST
#define MSGPACK_NO_BOOST
#endif
#include <array>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <map>
#include <memory>
#include <msgpack.hpp>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "weft/effects/eff.hpp"

// Adaptors that msgpack-cxx does not have: of durations, and before 6.1 of points in time, variants
// and std::monostate.
namespace msgpack {
MSGPACK_API_VERSION_NAMESPACE(MSGPACK_DEFAULT_API_NS) {
  namespace adaptor {

  template <class R, class P>
  struct convert<std::chrono::duration<R, P>> {
    msgpack::object const& operator()(msgpack::object const& o,
                                      std::chrono::duration<R, P>& d) const {
      d = std::chrono::duration<R, P>(o.as<R>());
      return o;
    }
  };
  template <class R, class P>
  struct pack<std::chrono::duration<R, P>> {
    template <class Stream>
    packer<Stream>& operator()(packer<Stream>& to, std::chrono::duration<R, P> const& d) const {
      return to.pack(d.count());
    }
  };

#if MSGPACK_VERSION_MAJOR < 6 || (MSGPACK_VERSION_MAJOR == 6 && MSGPACK_VERSION_MINOR < 1)
#ifdef MSGPACK_NO_BOOST  // with Boost, msgpack-cxx has an adaptor of points in time
  template <class C, class D>
  struct convert<std::chrono::time_point<C, D>> {
    msgpack::object const& operator()(msgpack::object const& o,
                                      std::chrono::time_point<C, D>& t) const {
      t = std::chrono::time_point<C, D>(o.as<D>());
      return o;
    }
  };
  template <class C, class D>
  struct pack<std::chrono::time_point<C, D>> {
    template <class Stream>
    packer<Stream>& operator()(packer<Stream>& to, std::chrono::time_point<C, D> const& t) const {
      return to.pack(t.time_since_epoch());
    }
  };
#endif
  template <>
  struct convert<std::monostate> {
    msgpack::object const& operator()(msgpack::object const& o, std::monostate&) const { return o; }
  };
  template <>
  struct pack<std::monostate> {
    template <class Stream>
    packer<Stream>& operator()(packer<Stream>& to, std::monostate) const {
      return to.pack_nil();
    }
  };

  template <class... Ts>
  struct convert<std::variant<Ts...>> {
    msgpack::object const& operator()(msgpack::object const& o, std::variant<Ts...>& v) const {
      if (o.type != msgpack::type::ARRAY || o.via.array.size != 2) throw msgpack::type_error();
      auto const index = o.via.array.ptr[0].as<std::size_t>();
      auto const found = [&]<std::size_t... I>(std::index_sequence<I...>) {
        return ((index == I && (v.template emplace<I>(o.via.array.ptr[1].as<Ts>()), true)) || ...);
      }(std::index_sequence_for<Ts...>());
      if (!found) throw msgpack::type_error();
      return o;
    }
  };
  template <class... Ts>
  struct pack<std::variant<Ts...>> {
    template <class Stream>
    packer<Stream>& operator()(packer<Stream>& to, std::variant<Ts...> const& v) const {
      to.pack_array(2).pack(v.index());
      std::visit([&to](auto const& value) { to.pack(value); }, v);
      return to;
    }
  };
#endif

  }  // namespace adaptor
}
}  // namespace msgpack

/// How values are stored: as MessagePack, by the library msgpack-cxx.  It is compact, and describes
/// itself, so a tool can print a log whose types it does not have (docs/decisions/032).
///
/// A struct names those of its members that are stored:
///
///     struct line {
///       std::string article;
///       int count = 0;
///       MSGPACK_DEFINE(article, count)
///     };
///
/// Members that are added at the end later are default-initialised when an older value is read.
namespace weft::durable {

/// Thrown if a stored value cannot be read as the type that is expected now.
struct [[gnu::visibility("default")]] not_readable : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Whether values of `T` can be stored.  Specialise it for a type with MSGPACK_ADD_ENUM, or with an
/// adaptor for msgpack of your own:
/// `template <> inline constexpr bool weft::durable::is_stored<colour> = true;`
template <class T>
inline constexpr bool is_stored = std::is_arithmetic_v<T> && !std::is_same_v<T, long double>;

template <class T>
  requires requires(T const& t, T& u, msgpack::packer<msgpack::sbuffer>& to,
                    msgpack::object const& from) {
    t.msgpack_pack(to);
    u.msgpack_unpack(from);
  }
inline constexpr bool is_stored<T> = std::is_default_constructible_v<T>;
template <>
inline constexpr bool is_stored<std::string> = true;
template <class T>
inline constexpr bool is_stored<std::vector<T>> = is_stored<T>;
template <class T>
inline constexpr bool is_stored<std::optional<T>> = is_stored<T>;
template <class T, std::size_t N>
inline constexpr bool is_stored<std::array<T, N>> = is_stored<T>;
template <class T>
inline constexpr bool is_stored<std::set<T>> = is_stored<T>;
template <class T>
inline constexpr bool is_stored<std::unordered_set<T>> = is_stored<T>;
template <class K, class V>
inline constexpr bool is_stored<std::map<K, V>> = is_stored<K> && is_stored<V>;
template <class K, class V>
inline constexpr bool is_stored<std::unordered_map<K, V>> = is_stored<K> && is_stored<V>;
template <class T, class U>
inline constexpr bool is_stored<std::pair<T, U>> = is_stored<T> && is_stored<U>;
template <class... Ts>
inline constexpr bool is_stored<std::tuple<Ts...>> = (is_stored<Ts> && ...);
template <class R, class P>
inline constexpr bool is_stored<std::chrono::duration<R, P>> = true;
template <class C, class D>
inline constexpr bool is_stored<std::chrono::time_point<C, D>> = true;
template <class... Ts>
inline constexpr bool is_stored<std::variant<Ts...>> = (is_stored<Ts> && ...);
template <>
inline constexpr bool is_stored<std::monostate> = true;

/// Whether values of `T` can be stored.
template <class T>
concept storable = is_stored<T>;

/// The stable name of a type, as it stands in stores: `T::stored_name` if there is one, else the
/// name of the type.  A process receives messages by the stable names of their types.
template <class T>
[[nodiscard]] constexpr std::string_view stored_name() {
  if constexpr (requires { std::string_view(T::stored_name); })
    return T::stored_name;
  else if constexpr (std::is_same_v<T, std::string>)
    return "string";  // compilers spell the name of std::string differently
  else
    return weft::detail::name_of<T>;
}

namespace detail {

template <class T>
consteval bool require_storable() {
  static_assert(storable<T>,
                "weft: a durable process stores this value, and does not know how: list its "
                "members in the struct, MSGPACK_DEFINE(a, b), which needs a default constructor; "
                "or specialise weft::durable::is_stored for a type with an adaptor of its own");
  return storable<T>;
}

/// Throws not_readable, which names the type and says why.
[[noreturn]] void throw_not_readable(std::string_view type, char const* why);

/// The value of `bytes` if it is a number, a truth value or a short text; else empty.  The value is
/// read in place; msgpack-cxx would allocate memory for it.
[[nodiscard]] std::optional<msgpack::object> short_value(std::string_view bytes);

/// The memory of a value while it is read: a zone that the thread keeps, or a new one if another
/// value is being read on this thread.
class reading {
 public:
  reading() noexcept;
  reading(reading const&) = delete;
  reading& operator=(reading const&) = delete;
  ~reading();
  /// The value of all of `bytes`; texts in the value refer to `bytes`.  Throws
  /// msgpack::unpack_error if they begin with no value, msgpack::type_error if bytes are left over.
  [[nodiscard]] msgpack::object value(std::string_view bytes);
  /// The first value of `bytes`.  Sets `end` to the position behind it.
  [[nodiscard]] msgpack::object first(std::string_view bytes, std::size_t& end);

 private:
  msgpack::zone* memory_;
  std::unique_ptr<msgpack::zone> own_;
};

}  // namespace detail

/// `value` as bytes.  O(size); allocates the bytes.
template <class T>
[[nodiscard]] std::string encode(T const& value) {
  if constexpr (detail::require_storable<T>()) {
    msgpack::sbuffer bytes(64);
    msgpack::packer<msgpack::sbuffer> to(bytes);
    to.pack(value);
    return std::string(bytes.data(), bytes.size());
  } else {
    return {};
  }
}

/// The value of these bytes.  O(size).  Throws not_readable if they are no MessagePack, or a value
/// of another type.
template <class T>
[[nodiscard]] T decode(std::string_view bytes) {
  try {
    if (auto const short_one = detail::short_value(bytes)) return short_one->as<T>();
    return detail::reading().value(bytes).template as<T>();
  } catch (msgpack::type_error const&) {
    detail::throw_not_readable(stored_name<T>(), "it is of another type");
  } catch (msgpack::unpack_error const& e) {
    detail::throw_not_readable(stored_name<T>(), e.what());
  }
}

/// Bytes as JSON, for people to read.  Bytes that are no MessagePack become a JSON string.
/// O(size); allocates the text.
[[nodiscard]] std::string readable(std::string_view bytes);

}  // namespace weft::durable
