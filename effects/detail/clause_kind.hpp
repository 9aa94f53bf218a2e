// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

#include "effects/eff.hpp"
#include "effects/outer.hpp"
#include "effects/region.hpp"
#include "effects/resumption.hpp"
#include "effects/tagged.hpp"

/// What kind of clause a handler has for an operation, told by what it can be called with; and
/// everything that can be wrong with one, each in one static_assert.
namespace weft::detail {

// ---- calling a clause: h.on(...), or h(...) for lambdas; for a tagged operation also untagged

template <class H, class... Args>
concept called_on = requires(H& h, Args... args) { h.on(std::forward<Args>(args)...); };
template <class H, class... Args>
concept called_as_function = requires(H& h, Args... args) { h(std::forward<Args>(args)...); };
template <class H, class... Args>
concept directly_callable = called_on<H, Args...> || called_as_function<H, Args...>;

template <class O>
struct untagged_operation : identity<never> {};
template <class Label, class O>
struct untagged_operation<tagged_operation<Label, O>> : identity<O> {};
template <class O>
using untagged = typename untagged_operation<O>::type;

template <class H, class O, class... Args>
concept has_clause = directly_callable<H, O, Args...> || directly_callable<H, untagged<O>, Args...>;

template <class H, class O, class... Args>
decltype(auto) call_clause(H& h, O&& o, Args&&... args) {
  if constexpr (called_on<H, O, Args...>)
    return h.on(std::forward<O>(o), std::forward<Args>(args)...);
  else if constexpr (called_as_function<H, O, Args...>)
    return h(std::forward<O>(o), std::forward<Args>(args)...);
  else
    return call_clause(h, std::move(o.untagged), std::forward<Args>(args)...);
}
template <class H, class O, class... Args>
using clause_result =
    decltype(call_clause(std::declval<H&>(), std::declval<O>(), std::declval<Args>()...));

// ---- kinds

enum class clause_kind { none, value, asking, control, multi_shot };

/// `Around`: the row around handle.
template <class H, class O, class A, class Around>
consteval clause_kind kind_of_clause() {
  using R = typename O::result;
  constexpr bool value = has_clause<H, O>;
  constexpr bool asks = has_clause<H, O, asking<Around>>;
  constexpr bool once = has_clause<H, O, resumption<R, A>>;
  constexpr bool often = has_clause<H, O, multi_resumption<R, A>>;

  constexpr bool has_a_clause = value || asks || once || often;
  static_assert(has_a_clause,
                "weft: the handler has no clause for this operation: on(operation), or "
                "on(operation, resumption<result, answer>)");
  constexpr bool names_its_resumption = !(asks && (once || often));
  static_assert(names_its_resumption,
                "weft: a clause takes its resumption by `auto`: write resumption<result, answer>");
  constexpr bool has_one_clause = value + (asks || once || often) < 2;
  static_assert(has_one_clause,
                "weft: the handler has both on(operation) and on(operation, k) for this operation");

  if constexpr (!has_a_clause || !names_its_resumption || !has_one_clause)
    return clause_kind::none;
  else if constexpr (value)
    return clause_kind::value;
  else if constexpr (asks)
    return clause_kind::asking;
  else if constexpr (once)
    return clause_kind::control;
  else
    return clause_kind::multi_shot;
}

template <class R, class A, clause_kind Kind>
using resumption_for =
    std::conditional_t<Kind == clause_kind::multi_shot, multi_resumption<R, A>, resumption<R, A>>;

// ---- what a clause may return

template <class T>
struct is_eff_type : std::false_type {};
template <class T, class... Es>
struct is_eff_type<eff<T, Es...>> : std::true_type {};
template <class T>
concept is_eff = is_eff_type<T>::value;

template <class H, class O, class Result>
consteval bool value_clause_returns_well() {
  using R = typename O::result;
  constexpr bool is_a_value = !is_eff<Result> && !is_resumption<Result>;
  static_assert(is_a_value,
                "weft: a clause that is a coroutine takes the resumption too: on(operation, "
                "resumption<result, answer> k)");
  if constexpr (!is_a_value) return false;
  constexpr bool converts =
      std::is_void_v<R> || std::is_same_v<R, never> || std::is_convertible_v<Result, R>;
  static_assert(
      converts,
      "weft: the clause on(operation) returns what does not convert to the operation's result");
  return converts;
}

template <class H, class O, class A, class Result, class Around>
consteval bool control_clause_returns_well() {
  if constexpr (is_eff<Result>) {
    constexpr bool computes_the_answer = std::is_same_v<typename Result::value_type, A>;
    static_assert(computes_the_answer,
                  "weft: a coroutine clause computes another type than the handler answers with");
    constexpr bool row_is_around = is_subset<typename Result::effects, Around>;
    static_assert(row_is_around,
                  "weft: a coroutine clause performs an effect that is not in the row around "
                  "handle: add it there, or handle it");
    return computes_the_answer && row_is_around;
  } else {
    constexpr bool is_the_answer =
        std::is_same_v<Result, outcome<A>> ||
        (std::is_void_v<A> ? std::is_void_v<Result> : std::is_convertible_v<Result, A>);
    static_assert(is_the_answer,
                  "weft: a control clause must return the handler's answer, or outcome<answer>, "
                  "which k.last(value) gives");
    return is_the_answer;
  }
}

// ---- all there is to check of a clause

template <class H, class O, class A, class Around>
consteval bool clause_is_well_formed() {
  constexpr clause_kind kind = kind_of_clause<H, O, A, Around>();
  if constexpr (kind == clause_kind::none)
    return false;
  else if constexpr (kind == clause_kind::value)
    return value_clause_returns_well<H, O, clause_result<H, O>>();
  else if constexpr (kind == clause_kind::asking)
    return value_clause_returns_well<H, O, clause_result<H, O, asking<Around>>>();
  else
    return control_clause_returns_well<
        H, O, A, clause_result<H, O, resumption_for<typename O::result, A, kind>>, Around>();
}

// ---- the return clause

template <class H, class T>
constexpr bool has_return_clause = requires(H& h, T t) { h.on_return(std::move(t)); };
template <class H>
constexpr bool has_return_clause<H, void> = requires(H& h) { h.on_return(); };
/// A member on_return that is no template, nor overloaded.
template <class H>
concept has_plain_return_clause = requires { &H::on_return; };

template <class H, class T>
struct answer_of : identity<T> {};
template <class H, class T>
  requires has_return_clause<H, T>
struct answer_of<H, T>
    : identity<std::decay_t<decltype(std::declval<H&>().on_return(std::declval<T>()))>> {};
template <class H>
  requires has_return_clause<H, void>
struct answer_of<H, void> : identity<std::decay_t<decltype(std::declval<H&>().on_return())>> {};

/// What a handler answers with, of a body that computes a `T`.
template <class H, class T>
using answer_type = typename answer_of<H, T>::type;

}  // namespace weft::detail
