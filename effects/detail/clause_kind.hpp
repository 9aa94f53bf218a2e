// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <exception>
#include <type_traits>
#include <utility>

#include "weft/effects/detail/refused.hpp"
#include "weft/effects/detail/row_set.hpp"
#include "weft/effects/eff.hpp"
#include "weft/effects/outer.hpp"
#include "weft/effects/rebinding.hpp"
#include "weft/effects/region.hpp"
#include "weft/effects/resumption.hpp"
#include "weft/effects/tagged.hpp"

/// The kind of clause that a handler has for an operation, found by the arguments that it can be
/// called with; and every mistake in a clause, each reported by one static_assert.
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
/// Whether a handler is told where an operation is performed: such a handler has, beside its
/// clauses on(operation, ...), the same as on_at(where, operation, ...), which are called in their
/// place.
template <class H>
constexpr bool is_told_where = requires { requires H::is_told_where; };
/// Calls a clause; `where()` gives the place of the operation, if the handler is told it.
template <class H, class Where, class... Args>
[[gnu::always_inline]] inline decltype(auto) call_clause_at(H& h, [[maybe_unused]] Where where,
                                                            Args&&... args) {
  if constexpr (is_told_where<H>)
    return h.on_at(where(), std::forward<Args>(args)...);
  else
    return call_clause(h, std::forward<Args>(args)...);
}
template <class H, class O, class... Args>
using clause_result =
    decltype(call_clause(std::declval<H&>(), std::declval<O>(), std::declval<Args>()...));

// ---- a resumption that is taken by `auto`, which could be of any kind

/// Stands for a resumption that a clause takes by `auto`, so that the body of the clause compiles,
/// and only weft's assertion fails.
template <class R, class A>
struct taken_by_auto {
  template <class... V>
  resuming<A> operator()(V&&...) && {
    std::terminate();
  }
  template <operation O>
  typename O::result operator()(O) const& {
    std::terminate();
  }
  template <class... V>
  outcome<A> last(V&&...) && {
    std::terminate();
  }
  template <class... V>
  friend A resume(taken_by_auto, V&&...) {
    std::terminate();
  }
  explicit operator bool() const { return false; }
  operator resumption<R, A>() const { std::terminate(); }
  operator multi_resumption<R, A>() const { std::terminate(); }
};

/// Whether the clause spells out the type `K`: an argument in braces converts to a type that is
/// spelled out, but a template deduces nothing from it.
template <class H, class O, class K>
concept spelled_out_on = requires(H& h, O o, K k) { h.on(std::forward<O>(o), {std::move(k)}); };
template <class H, class O, class K>
concept spelled_out_as_function =
    requires(H& h, O o, K k) { h(std::forward<O>(o), {std::move(k)}); };
template <class H, class O, class K>
concept spells_out =
    spelled_out_on<H, O, K> || spelled_out_as_function<H, O, K> ||
    spelled_out_on<H, untagged<O>, K> || spelled_out_as_function<H, untagged<O>, K>;

template <class H, class O, class A, class R = typename O::result>
concept takes_auto =
    !spells_out<H, O, resumption<R, A>> && !spells_out<H, O, multi_resumption<R, A>> &&
    has_clause<H, O, taken_by_auto<R, A>>;

// ---- kinds

enum class clause_kind { none, value, asking, control, multi_shot };

/// The clauses that a handler has for an operation.  `Around`: the row around `handle`.
template <class H, class O, class A, class Around>
struct clauses_for {
  using R = typename std::remove_reference_t<O>::result;
  static constexpr bool value = has_clause<H, O>;
  static constexpr bool asks = has_clause<H, O, asking<Around>>;
  static constexpr bool once = has_clause<H, O, rebindable<resumption, R, A, rebound_by<H>>>;
  static constexpr bool often = has_clause<H, O, rebindable<multi_resumption, R, A, rebound_by<H>>>;
  static constexpr int count = value + asks + once + often;
};

/// Reports why the handler has no clause for the operation.
template <class H, class O, class A, class Around>
consteval void miss_a_clause() {
  constexpr bool is_as_const_as_its_handler =
      !std::is_const_v<H> || !clauses_for<std::remove_const_t<H>, O, A, Around>::count;
  static_assert(is_as_const_as_its_handler,
                "weft: the handler is const, and its clause for this operation is not");
  constexpr bool takes_a_value = !clauses_for<H, O&, A, Around>::count;
  static_assert(takes_a_value, "weft: a clause takes its operation by value, or by const&");
  constexpr bool takes_its_resumption = !has_clause<H, O, anything>;
  static_assert(takes_its_resumption,
                "weft: the clause for this operation takes another type of resumption than "
                "resumption<result, answer>: the operation's result, the handler's answer");
  if constexpr (is_as_const_as_its_handler && takes_a_value && takes_its_resumption)
    static_assert(is_allowed<H, O>,
                  "weft: the handler has no public clause for this operation: on(operation), or "
                  "on(operation, resumption<result, answer>)");
}

template <class H, class O, class A, class Around>
consteval clause_kind kind_of_clause() {
  constexpr bool spells_out_its_resumption = !takes_auto<H, O, A>;
  static_assert(spells_out_its_resumption,
                "weft: a clause takes its resumption by `auto`: write resumption<result, answer>");
  if constexpr (!spells_out_its_resumption) {
    return clause_kind::none;
  } else {
    using found = clauses_for<H, O, A, Around>;
    if constexpr (found::count == 0) miss_a_clause<H, O, A, Around>();
    constexpr bool is_of_one_kind = found::count < 2;
    static_assert(is_of_one_kind,
                  "weft: the handler has clauses of two kinds for this operation: keep one");

    if constexpr (found::count != 1)
      return clause_kind::none;
    else if constexpr (found::value)
      return clause_kind::value;
    else if constexpr (found::asks)
      return clause_kind::asking;
    else if constexpr (found::once)
      return clause_kind::control;
    else
      return clause_kind::multi_shot;
  }
}

template <class R, class A, clause_kind Kind, class Rebound>
using resumption_for =
    std::conditional_t<Kind == clause_kind::multi_shot, rebindable<multi_resumption, R, A, Rebound>,
                       rebindable<resumption, R, A, Rebound>>;

// ---- the return type of a clause

template <class H, class O, class Result>
consteval bool value_clause_returns_well() {
  using R = typename O::result;
  constexpr bool is_a_value = !is_eff<Result> && !is_resumption<Result>;
  static_assert(is_a_value,
                "weft: a clause that is a coroutine takes the resumption too: on(operation, "
                "resumption<result, answer> k)");
  constexpr bool converts =
      std::is_void_v<R> || std::is_same_v<R, never> || std::is_convertible_v<Result, R>;
  if constexpr (is_a_value)
    static_assert(converts,
                  "weft: the clause on(operation) returns a value that does not convert to the "
                  "operation's result");
  return is_a_value && converts;
}

template <class H, class O, class A, class Result, class Around>
consteval bool control_clause_returns_well() {
  if constexpr (is_eff<Result>) {
    constexpr bool computes_the_answer = std::is_same_v<typename Result::value_type, A>;
    static_assert(computes_the_answer,
                  "weft: a coroutine clause computes another type than the handler answers with");
    using missing = row_difference<typename Result::effects, Around>;
    static_assert(is_empty_row<missing>,
                  "weft: a coroutine clause performs an effect that is not in the row around "
                  "handle: add it there, or handle it");
    return computes_the_answer && is_empty_row<missing>;
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

// ---- all checks of a clause

template <class H, class O, class A, class Around>
consteval bool clause_is_well_formed() {
  constexpr clause_kind kind = kind_of_clause<H, O, A, Around>();
  if constexpr (kind == clause_kind::none)
    return false;
  else if constexpr (kind == clause_kind::value)
    return value_clause_returns_well<H, O, clause_result<H, O>>();
  else if constexpr (kind == clause_kind::asking && has_clause<H, O, asking_within<Around>>)
    return value_clause_returns_well<H, O, clause_result<H, O, asking<Around>>>();
  else if constexpr (kind == clause_kind::asking)
    return !has_clause<H, O, asking_beyond<Around>>;  // false, and reported
  else
    return control_clause_returns_well<
        H, O, A, clause_result<H, O, resumption_for<typename O::result, A, kind, rebound_by<H>>>,
        Around>();
}

// ---- the return clause

template <class H, class T>
constexpr bool has_return_clause = requires(H& h, T t) { h.on_return(std::move(t)); };
template <class H>
constexpr bool has_return_clause<H, void> = requires(H& h) { h.on_return(); };

/// To find whether a handler has a member on_return, whatever arguments it takes: then a second
/// base with such a member makes the name ambiguous.
struct has_on_return {
  void on_return();
};
template <class H>
struct has_it_twice : H, has_on_return {};
template <class H>
concept names_on_return =
    requires { &H::on_return; } || (std::is_class_v<H> && !std::is_final_v<H> && !requires {
      &has_it_twice<std::remove_const_t<H>>::on_return;
    });

template <class H, class T>
struct answer_of : identity<T> {};
template <class H, class T>
  requires has_return_clause<H, T>
struct answer_of<H, T>
    : identity<std::decay_t<decltype(std::declval<H&>().on_return(std::declval<T>()))>> {};
template <class H>
  requires has_return_clause<H, void>
struct answer_of<H, void> : identity<std::decay_t<decltype(std::declval<H&>().on_return())>> {};

/// The answer type of a handler whose body computes a `T`.
template <class H, class T>
using answer_type = typename answer_of<H, T>::type;

}  // namespace weft::detail
