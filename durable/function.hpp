// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "weft/durable/codec.hpp"
#include "weft/durable/store.hpp"
#include "weft/effects/eff.hpp"

namespace weft::durable {

/// A function that durable processes run, with the name and the version by which stores know it:
///
///     eff<receipt, durable::all<payments>> order(int number, std::string customer);
///     constexpr durable::function order_process{"order", 1, order};
///
/// A process goes on in the version in which it was started; if the engine does not have that
/// version, in the newest one.
template <class Signature>
class function;
template <class R, class... Es, class... Params>
class function<eff<R, Es...>(Params...)> {
 public:
  using result = R;
  using effects = typename eff<R, Es...>::effects;
  using arguments = std::tuple<std::decay_t<Params>...>;

  constexpr function(char const* name, std::uint32_t version,
                     eff<R, Es...> (*f)(Params...)) noexcept
      : name_(name), version_(version), f_(f) {}
  /// The name by which stores know the function.
  [[nodiscard]] constexpr std::string_view name() const noexcept { return name_; }
  /// The version that is stored with each process that it starts.
  [[nodiscard]] constexpr std::uint32_t version() const noexcept { return version_; }

  /// The record by which a store starts a process of this function.  Allocates the bytes of the
  /// arguments.
  template <class... Args>
  [[nodiscard]] process_start start(std::string id, Args&&... args) const {
    static_assert((detail::require_storable<std::decay_t<Params>>() && ...));
    return {std::move(id),
            std::string(name_),
            version_,
            encode(arguments(std::forward<Args>(args)...)),
            {}};
  }
  /// Calls the function with stored arguments.
  [[nodiscard]] eff<R, Es...> operator()(std::string_view stored) const {
    return std::apply(f_, decode<arguments>(stored));
  }

 private:
  char const* name_;
  std::uint32_t version_;
  eff<R, Es...> (*f_)(Params...);
};
template <class R, class... Es, class... Params>
function(char const*, int, eff<R, Es...> (*)(Params...)) -> function<eff<R, Es...>(Params...)>;

}  // namespace weft::durable
