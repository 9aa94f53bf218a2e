// SPDX-License-Identifier: MIT
#pragma once

#include "weft/effects/detail/mistakes/mistakes.hpp"

#include <concepts>
#include <exception>
#include <type_traits>
#include <utility>

#include "weft/effects/detail/mistakes/refused.hpp"
#include "weft/effects/detail/row_set.hpp"
#include "weft/effects/eff.hpp"
#include "weft/effects/outer.hpp"
#include "weft/effects/region.hpp"
#include "weft/effects/resumption.hpp"
#include "weft/effects/tagged.hpp"

/// The kind of clause that a handler has for an operation, found by the arguments that it can be
/// called with; and the mistakes in a clause.
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
/// Whether a handler is told where an operation is performed: beside each clause on(operation,
/// ...), such a handler has a clause on_at(where, operation, ...), which is called in its place.
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

/// `value`: answers at once; `outward`: answers at once, and performs outward (outer.hpp);
/// `control`: takes a resumption; `multi_shot`: takes a multi_resumption.
enum class clause_kind { none, value, outward, control, multi_shot };

/// Tells which clauses a handler has for an operation.  `Around`: the row around `handle`.
template <class H, class O, class A, class Around>
struct clauses_for {
  using R = typename std::remove_reference_t<O>::result;
  static constexpr bool value = has_clause<H, O>;
  static constexpr bool asks = has_clause<H, O, asking<Around>>;
  static constexpr bool once = has_clause<H, O, resumption<R, A>>;
  static constexpr bool often = has_clause<H, O, multi_resumption<R, A>>;
  static constexpr int count = value + asks + once + often;
};

/// The mistake because of which the handler has no clause for the operation.
template <class H, class O, class A, class Around>
consteval auto mistake_of_no_clause() {
  if constexpr (std::is_const_v<H> && clauses_for<std::remove_const_t<H>, O, A, Around>::count)
    return clause_is_not_const<H, O>();
  else if constexpr (clauses_for<H, O&, A, Around>::count)
    return clause_takes_reference<H, O>();
  else if constexpr (has_clause<H, O, anything>)
    return clause_takes_another_resumption<H, O, resumption<typename O::result, A>>();
  else
    return no_clause<H, O>();
}

template <class H, class O, class A, class Around>
consteval clause_kind kind_of_clause() {
  using found = clauses_for<H, O, A, Around>;
  if constexpr (takes_auto<H, O, A>)
    return clause_kind::none;
  else if constexpr (found::count != 1)
    return clause_kind::none;
  else if constexpr (found::value)
    return clause_kind::value;
  else if constexpr (found::asks)
    return clause_kind::outward;
  else if constexpr (found::once)
    return clause_kind::control;
  else
    return clause_kind::multi_shot;
}

template <class R, class A, clause_kind Kind>
using resumption_for =
    std::conditional_t<Kind == clause_kind::multi_shot, multi_resumption<R, A>, resumption<R, A>>;

// ---- the return type of a clause

template <class H, class O, class Result>
consteval auto mistake_of_value_clause() {
  using R = typename O::result;
  if constexpr (is_eff<Result> || is_resumption<Result>)
    return coroutine_without_resumption<H, O>();
  else if constexpr (std::is_void_v<R> || std::is_same_v<R, never> ||
                     std::is_convertible_v<Result, R>)
    return no_mistake();
  else
    return value_clause_of_another_type<H, O, Result>();
}

template <class H, class O, class A, class Result, class Around>
consteval auto mistake_of_control_clause() {
  if constexpr (is_eff<Result>) {
    using missing = row_difference<typename Result::effects, Around>;
    if constexpr (!std::is_same_v<typename Result::value_type, A>)
      return coroutine_clause_of_another_type<H, O, Result>();
    else if constexpr (!is_empty_row<missing>)
      return coroutine_clause_outside_row<H, O, missing>();
    else
      return no_mistake();
  } else if constexpr (std::is_same_v<Result, outcome<A>> ||
                       (std::is_void_v<A> ? std::is_void_v<Result>
                                          : std::is_convertible_v<Result, A>)) {
    return no_mistake();
  } else {
    return control_clause_of_another_type<H, O, Result>();
  }
}

/// The mistake of a clause whose outer<...> has an effect that the row around the handler lacks.
template <class H, class O, class Around>
struct asking_mistake {
  static consteval bool report() {
    if constexpr (called_on<H, O, asking<Around>>)
      (void) noexcept(std::declval<H&>().on(std::declval<O>(), asking_beyond<Around>()));
    else
      (void)has_clause<H, O, asking_beyond<Around>>;
    return false;
  }
};

// ---- all mistakes of a clause

template <class H, class O, class A, class Around>
consteval auto find_clause_mistake() {
  constexpr clause_kind kind = kind_of_clause<H, O, A, Around>();
  if constexpr (takes_auto<H, O, A>)
    return clause_by_auto<H, O>();
  else if constexpr (clauses_for<H, O, A, Around>::count > 1)
    return clauses_of_two_kinds<H, O>();
  else if constexpr (kind == clause_kind::none)
    return mistake_of_no_clause<H, O, A, Around>();
  else if constexpr (kind == clause_kind::value)
    return mistake_of_value_clause<H, O, clause_result<H, O>>();
  else if constexpr (kind == clause_kind::outward && has_clause<H, O, asking_within<Around>>)
    return mistake_of_value_clause<H, O, clause_result<H, O, asking<Around>>>();
  else if constexpr (kind == clause_kind::outward)
    return asking_mistake<H, O, Around>();
  else
    return mistake_of_control_clause<
        H, O, A, clause_result<H, O, resumption_for<typename O::result, A, kind>>, Around>();
}
template <class H, class O, class A, class Around>
using clause_mistake = decltype(find_clause_mistake<H, O, A, Around>());

// ---- the return clause

template <class H, class T>
constexpr bool has_return_clause = requires(H& h, T t) { h.on_return(std::move(t)); };
template <class H>
constexpr bool has_return_clause<H, void> = requires(H& h) { h.on_return(); };

/// Detects whether a handler has a member on_return, with any parameters: if so, the name is
/// ambiguous in a class that derives from the handler and from this struct.
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
