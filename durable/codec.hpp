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

#include <msgpack.hpp>

#include "weft/effects/eff.hpp"

/// How values are stored: as MessagePack, by the library msgpack-cxx.  It is compact, and describes
/// itself, so a tool can print a log whose types it does not have (docs/decisions/029).
///
/// A struct of yours says what of it is stored:
///
///     struct line {
///       std::string article;
///       int count = 0;
///       MSGPACK_DEFINE(article, count)
///     };
///
/// Members that are added at the end later are default-initialised when an older value is read.
namespace weft::durable {

/// A stored value cannot be read as the type that is expected now.
struct [[gnu::visibility("default")]] not_readable : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Specialise it for a type with an adaptor of msgpack's of your own, or with MSGPACK_ADD_ENUM:
/// `template <> inline constexpr bool weft::durable::is_stored<colour> = true;`
template <class T>
inline constexpr bool is_stored = std::is_arithmetic_v<T>;

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

/// The stable name of a type, as it stands in stores: what `T::stored_name` says, else the name of
/// the type.  Messages are received by it.
template <class T>
[[nodiscard]] constexpr std::string_view stored_name() {
  if constexpr (requires { std::string_view(T::stored_name); })
    return T::stored_name;
  else if constexpr (std::is_same_v<T, std::string>)
    return "string";  // compilers spell it differently
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

[[noreturn]] void throw_not_readable(std::string_view type, char const* why);

template <class T>
void pack(msgpack::packer<msgpack::sbuffer>& to, T const& value) {
  if constexpr (requires { typename T::rep; })
    to.pack(value.count());
  else if constexpr (requires { typename T::clock; })
    to.pack(value.time_since_epoch().count());
  else
    to.pack(value);
}
template <class... Ts>
void pack(msgpack::packer<msgpack::sbuffer>& to, std::variant<Ts...> const& value) {
  to.pack_array(2);
  to.pack(value.index());
  std::visit([&](auto const& v) { pack(to, v); }, value);
}
inline void pack(msgpack::packer<msgpack::sbuffer>& to, std::monostate) { to.pack_nil(); }

template <class T>
struct unpacker {
  static T from(msgpack::object const& o) {
    if constexpr (requires { typename T::rep; })
      return T(o.as<typename T::rep>());
    else if constexpr (requires { typename T::clock; })
      return T(typename T::duration(o.as<typename T::duration::rep>()));
    else
      return o.as<T>();
  }
};
template <>
struct unpacker<std::monostate> {
  static std::monostate from(msgpack::object const&) { return {}; }
};
template <class... Ts>
struct unpacker<std::variant<Ts...>> {
  using V = std::variant<Ts...>;
  static V from(msgpack::object const& o) {
    if (o.type != msgpack::type::ARRAY || o.via.array.size != 2) throw msgpack::type_error();
    return at(o.via.array.ptr[0].as<std::size_t>(), o.via.array.ptr[1],
              std::index_sequence_for<Ts...>());
  }
  template <std::size_t... I>
  static V at(std::size_t index, msgpack::object const& o, std::index_sequence<I...>) {
    std::optional<V> v;
    (void)((index == I && (v.emplace(std::in_place_index<I>, unpacker<Ts>::from(o)), true)) ||
           ...);
    if (!v) throw msgpack::type_error();
    return *std::move(v);
  }
};

}  // namespace detail

/// `value` as bytes.  O(size); allocates the bytes.
template <class T>
[[nodiscard]] std::string encode(T const& value) {
  if constexpr (detail::require_storable<T>()) {
    msgpack::sbuffer bytes(64);
    msgpack::packer<msgpack::sbuffer> to(bytes);
    detail::pack(to, value);
    return std::string(bytes.data(), bytes.size());
  } else {
    return {};
  }
}

/// The value of these bytes.  O(size).  Throws not_readable if they are those of another type.
template <class T>
[[nodiscard]] T decode(std::string_view bytes) {
  try {
    msgpack::zone memory(256);
    std::size_t end = 0;
    msgpack::object const o = msgpack::unpack(memory, bytes.data(), bytes.size(), end);
    if (end != bytes.size()) throw msgpack::type_error();
    return detail::unpacker<T>::from(o);
  } catch (msgpack::type_error const&) {
    detail::throw_not_readable(stored_name<T>(), "it is of another type");
  } catch (msgpack::unpack_error const& e) {
    detail::throw_not_readable(stored_name<T>(), e.what());
  }
}

/// Bytes as text, for people: JSON.  Text that is no MessagePack is returned as a JSON string.
[[nodiscard]] std::string readable(std::string_view bytes);

}  // namespace weft::durable
