// SPDX-License-Identifier: MIT
#pragma once

#include "weft/effects/detail/mistakes/mistakes.hpp"

#include <coroutine>
#include <type_traits>

#include "weft/effects/detail/mistakes/refused.hpp"
#include "weft/effects/detail/resumption_parameter.hpp"
#include "weft/effects/detail/row_set.hpp"
#include "weft/effects/operation.hpp"
#include "weft/effects/resumption.hpp"

/// Selects the promise of a coroutine by its parameters, and reports mistakes in these.
namespace weft::detail {

/// Whether all parameters can be copied byte by byte, as part of a frame.
template <class... Parameters>
constexpr bool are_trivially_copied =
    (std::disjunction_v<std::is_reference<Parameters>, std::is_trivially_copyable<Parameters>> &&
     ...);
/// Whether a coroutine with these parameters has the shape of a clause, on(operation, k), and takes
/// one of the two by reference.
template <class... Parameters>
constexpr bool is_clause_by_reference = false;
template <class P, class Q, class... Parameters>
constexpr bool is_clause_by_reference<P, Q, Parameters...> =
    (operation<std::remove_cvref_t<P>> && is_resumption<std::remove_cvref_t<Q>> &&
     (std::is_reference_v<P> || std::is_reference_v<Q>)) ||
    is_clause_by_reference<Q, Parameters...>;
/// Whether a coroutine with these parameters, which computes a `T`, is a clause, on(operation,
/// resumption<R, A>), and one of `T` and `A` is void.  Then its body would not compile, so this is
/// reported here.  Other clauses that compute another type than `A` are found where the handler is
/// installed.
template <class T, class... Parameters>
struct answers_with_another_type : std::false_type {};
template <class T, class O, class R, class A>
struct answers_with_another_type<T, O, resumption<R, A>>
    : std::bool_constant<operation<O> && std::is_void_v<T> != std::is_void_v<A>> {
  using answer = A;
};
template <class T, class H, class O, class R, class A>
struct answers_with_another_type<T, H, O, resumption<R, A>>
    : answers_with_another_type<T, O, resumption<R, A>> {};

/// Stands in for the promise of a coroutine for which answers_with_another_type is true, so that no
/// second error follows.
template <class Eff>
struct promise_in_place {
  Eff get_return_object();
  [[nodiscard]] std::suspend_always initial_suspend() const noexcept { return {}; }
  [[nodiscard]] std::suspend_always final_suspend() const noexcept { return {}; }
  void unhandled_exception() const noexcept {}
  template <class X>
  refused<> await_transform(X&&);
};
/// Adds the co_return of a clause whose resumption answers with an `A`.
template <class Eff, class A>
struct promise_of_refused_clause : promise_in_place<Eff> {
  void return_value(anything) const noexcept {}
};
template <class Eff>
struct promise_of_refused_clause<Eff, void> : promise_in_place<Eff> {
  template <class X>
  std::suspend_never await_transform(X&&);
  void return_void() const noexcept {}
};
/// The promise of a coroutine that returns an `Eff` and has these parameters.
template <class Eff, class... Parameters>
struct promise_by_parameters
    : std::conditional_t<are_trivially_copied<Parameters...>, identity<typename Eff::promise_type>,
                         promise_for<typename Eff::owning_promise_type, Parameters...>> {};
template <class Eff, class... Parameters>
  requires answers_with_another_type<typename Eff::value_type, Parameters...>::value
struct promise_by_parameters<Eff, Parameters...>
    : identity<promise_of_refused_clause<
          Eff,
          typename answers_with_another_type<typename Eff::value_type, Parameters...>::answer>> {
  static_assert(clause_answers_otherwise<Eff, Parameters...>::report());
};
template <class... Parameters>
consteval bool require_values() {
  constexpr bool takes_values = !is_clause_by_reference<Parameters...>;
  static_assert(takes_values,
                "weft: a coroutine clause takes the operation and its resumption by value: it goes "
                "on after the call");
  return true;  // so that no second error follows
}

}  // namespace weft::detail
