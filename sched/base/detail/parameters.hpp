// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>
#include <utility>

/// Checks of the arguments that a process or a task keeps for its coroutine: no parameter may refer
/// to a temporary, which would be gone when the coroutine runs.
namespace weft::detail {

template <class... Ps>
struct parameter_list {
  /// Whether a parameter `P` would refer to a temporary to which an argument of type `A` is
  /// converted.  The test takes a `volatile const&`, to which no temporary binds.
  template <class P, class A>
  static constexpr bool binds_to_a_temporary =
      std::is_reference_v<P> && !std::is_convertible_v<A&, std::remove_cvref_t<P> volatile const&>;
  static constexpr bool are_copies = (!std::is_reference_v<Ps> || ...);
  template <class... As>
  static constexpr bool refers_to_temporaries = [] {
    if constexpr (sizeof...(As) == sizeof...(Ps))
      return (binds_to_a_temporary<Ps, As> || ...);
    else
      return false;
  }();
};

/// Checks that each of these arguments can be copied or moved into the process or task.
template <class... As>
consteval bool require_kept() {
  constexpr bool are_kept = (std::is_constructible_v<std::decay_t<As>, As> && ...);
  constexpr bool can_be_moved = (std::is_move_constructible_v<std::decay_t<As>> && ...);
  static_assert(are_kept || !can_be_moved,
                "weft: an argument cannot be copied, only moved: pass std::move(x)");
  static_assert(can_be_moved,
                "weft: an argument can be neither copied nor moved: pass std::ref(x), to an object "
                "that outlives the process");
  return are_kept;
}

/// The parameters of a function, or of a class with one operator() that is no template.  Of any
/// other `F`, parameters_of_any() returns an empty list.
template <class R, class... Ps>
parameter_list<Ps...> parameters_of(R (*)(Ps...));
template <class C, class R, class... Ps>
parameter_list<Ps...> parameters_of(R (C::*)(Ps...));
template <class C, class R, class... Ps>
parameter_list<Ps...> parameters_of(R (C::*)(Ps...) const);
template <class F>
auto parameters_of_any() {
  if constexpr (requires(F f) { parameters_of(f); })
    return std::type_identity<decltype(parameters_of(std::declval<F>()))>();
  else if constexpr (requires { parameters_of(&F::operator()); })
    return std::type_identity<decltype(parameters_of(&F::operator()))>();
  else
    return std::type_identity<parameter_list<>>();
}

/// Checks that no parameter refers to a temporary, if a coroutine begins by a call of `F` with kept
/// arguments of the types `As`.
template <class F, class... As>
consteval bool require_no_temporaries() {
  constexpr bool refers_to_temporaries =
      decltype(parameters_of_any<F>())::type::template refers_to_temporaries<As...>;
  static_assert(!refers_to_temporaries,
                "weft: an argument is converted to a temporary, to which the coroutine would refer "
                "when it is gone: take the parameter by value");
  return !refers_to_temporaries;
}

}  // namespace weft::detail
