// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

#include "weft/effects/detail/clause_kind.hpp"
#include "weft/effects/detail/evidence.hpp"
#include "weft/effects/detail/prompt.hpp"
#include "weft/effects/detail/row_set.hpp"
#include "weft/effects/multi_shot.hpp"

/// All that is known about a handler and its body at compile time, where the handler is installed.
namespace weft::detail {

/// The result of `handle`.  H: `X` for an owned handler, `X&` for a borrowed one.
template <class H, class Es, class Body, class Policy>
class [[nodiscard(
    "weft: a computation runs once it is awaited: co_await it, or run it")]] handling {
 public:
  handling(H&& h, Body b) : handler(std::forward<H>(h)), body(std::move(b)) {}
  H handler;
  Body body;
};

/// The handler that `H` means: `H` itself, unless `H` forwards to another handler.  Then it is the
/// handler that `H::stands_for` means: `X` if that handler is owned, `X&` if `H` refers to it.
template <class H>
struct handler_meant : identity<H> {};
template <class H>
using meant_by = typename handler_meant<H>::type;
template <class H>
  requires requires { typename std::remove_cvref_t<H>::stands_for; }
struct handler_meant<H> {
  using next = typename std::remove_cvref_t<H>::stands_for;
  using type = std::conditional_t<std::is_reference_v<next>, meant_by<next>&, meant_by<next>>;
};

/// Whether `H` forwards to a handler to which it refers.  `H` is installed as that handler would
/// be: as a borrowed handler, and in that handler's region if it has one.  A copy of `H` is kept
/// even if `H` is named, so only the handler to which it refers must live on.
template <class H>
constexpr bool refers_to_handler =
    !std::is_same_v<meant_by<H>, H> && std::is_reference_v<meant_by<H>>;
template <class H>
using kept_as = std::conditional_t<refers_to_handler<H>, std::remove_cvref_t<H>, H>;

/// The region of a handler, or of the handler that it stands for.
template <class H>
region& region_of(H& h) noexcept {
  if constexpr (std::derived_from<H, region>)
    return h;
  else
    return region_of(h.forwards_to());
}

/// `Inner`: the handling is the body of another handling, with no frame in between.
template <class Handling, class Around, bool Inner = false>
struct handler_traits;

// ---- bodies: an eff, a function that returns one, or another handling
//
// The row of an eff, or of a function, is known.  A handling may use every effect of the row
// `Available`.

template <class Body, class Available>
struct body_traits;
template <class T, class... Es, class Available>
struct body_traits<eff<T, Es...>, Available> {
  using value_type = T;
  using effects = typename eff<T, Es...>::effects;
};
template <class H, class Es, class Inner, class Policy, class Available>
struct body_traits<handling<H, Es, Inner, Policy>, Available> {
  using value_type = typename handler_traits<handling<H, Es, Inner, Policy>, Available>::answer;
  using effects = Available;
};
template <body_function F, class Available>
struct body_traits<F, Available> : body_traits<std::invoke_result_t<F&>, Available> {};

template <class B>
constexpr bool is_handling = false;
template <class H, class Es, class Body, class Policy>
constexpr bool is_handling<handling<H, Es, Body, Policy>> = true;
/// Whether the answer of the handling `B` is computed at once, by no prompt (multi_shot.hpp).
template <class B>
constexpr bool is_computed_at_once = false;
template <class H, class Es, class Body, class Policy>
constexpr bool is_computed_at_once<handling<H, Es, Body, Policy>> =
    Policy::resuming::computes_at_once;
template <class B>
concept handled_body = is_eff<B> || body_function<B> || is_handling<B>;

// ---- traits

template <class H, class... Es, class Body, class Policy, class Around, bool Inner>
struct handler_traits<handling<H, row<Es...>, Body, Policy>, Around, Inner> {
  using handler = std::remove_reference_t<H>;
  using held = H;
  using handled = row<Es...>;
  using around = Around;
  using body = Body;
  using body_result = typename body_traits<Body, row_set<Es..., Around>>::value_type;
  using body_effects = typename body_traits<Body, row_set<Es..., Around>>::effects;
  using answer = answer_type<handler, body_result>;

  using meant = std::remove_reference_t<meant_by<H>>;
  static constexpr bool is_reference = std::is_reference_v<H>;
  static constexpr bool borrowed = is_reference || refers_to_handler<H>;
  static constexpr bool is_region = std::derived_from<meant, region>;

  template <class O>
  static constexpr clause_kind kind = kind_of_clause<handler, O, answer, Around>();
  template <clause_kind Kind, class... Os>
  static constexpr bool is_any(op_list<Os...>) {
    return ((kind<Os> == Kind) || ...);
  }
  template <clause_kind Kind>
  static constexpr bool has_kind = (is_any<Kind>(typename Es::operations()) || ...);

  static constexpr bool is_multi_shot = has_kind<clause_kind::multi_shot>;
  using resuming = typename Policy::resuming;
  /// Whether a later resume starts the body again.
  static constexpr bool restarts = is_multi_shot && resuming::restarts;
  static constexpr bool captures = has_kind<clause_kind::control> || is_multi_shot;
  /// Whether the handler is lent to the handle expression, which is then its region.  That is so if
  /// the handler is borrowed and is no region, and its body may still be suspended when the
  /// expression has its answer.
  static constexpr bool is_lent = borrowed && !is_region && (captures || Inner);
  /// Whether the prompt joins a region: the handler's own, or the one of the handle expression.
  static constexpr bool stays = (borrowed && is_region) || is_lent;

  /// Whether the prompt of the handler may be copied byte by byte, as part of a body.
  static constexpr bool is_copyable = std::is_trivially_copyable_v<handler> &&
                                      std::is_trivially_copyable_v<meant> && !is_region &&
                                      !is_multi_shot && !(stays && Inner) &&
                                      (!body_function<Body> || std::is_trivially_copyable_v<Body>);

  /// The effects in the row around `handle` whose handlers the prompt keeps: those that the body
  /// performs, and those that are handled here as well (for outer_of).  All effects of that row, if
  /// a clause performs outward, or continuations are captured.
  using needed = std::conditional_t<has_kind<clause_kind::outward> || captures, Around,
                                    row_intersection<Around, row_set<body_effects, row<Es...>>>>;
};

// ---- mistakes

template <class H, class A, class Around, class List>
struct clause_mistake_among;
template <class H, class A, class Around, class... Os>
struct clause_mistake_among<H, A, Around, op_list<Os...>>
    : first_mistake<clause_mistake<H, Os, A, Around>...> {};

template <class Handling, class Around>
struct well_formed;
template <class H, class... Es, class Body, class Policy, class Around>
struct well_formed<handling<H, row<Es...>, Body, Policy>, Around> {
  using handler = std::remove_reference_t<H>;
  using body = body_traits<Body, row_set<Es..., Around>>;

  static consteval auto find_mistake() {
    if constexpr (!is_well<typename decltype(of_body())::type>) {
      return typename decltype(of_body())::type();
    } else if constexpr (!is_well<row_mistake<row<Es...>>>) {
      return row_mistake<row<Es...>>();
    } else {
      using result = typename body::value_type;
      using answer = answer_type<handler, result>;
      using left = row_difference<typename body::effects, row_set<Es..., Around>>;
      if constexpr (!has_return_clause<handler, result> && names_on_return<handler>)
        return on_return_of_another_type<handler, result>();
      else if constexpr (is_eff<answer>)
        return on_return_is_coroutine<handler, result>();
      else if constexpr (!is_empty_row<left>)
        return body_outside_row<left>();
      else
        return typename first_mistake<typename clause_mistake_among<
            handler, answer, Around, typename Es::operations>::type...>::type();
    }
  }
  struct keeping {
    static consteval bool report() { return is_kept_well(); }
  };
  static consteval auto find_any_mistake() {
    if constexpr (is_well<decltype(find_mistake())>)
      return keeping();
    else
      return find_mistake();
  }
  /// Replaces an ill-formed handling: its co_await yields the same type, as far as it is known.
  static auto instead() {
    if constexpr (!is_handling<Body>) {
      using answer = answer_type<handler, typename body::value_type>;
      if constexpr (!is_eff<answer>)
        return refused<answer>();
      else
        return refused();
    } else {
      return refused();
    }
  }

  /// The mistake in the body: in a handling inside, or in the row of its coroutine.
  static consteval auto of_body() {
    if constexpr (is_computed_at_once<Body>)
      return identity<body_is_compared<Body>>();
    else if constexpr (is_handling<Body>)
      return identity<decltype(well_formed<Body, row_set<Es..., Around>>::find_mistake())>();
    else if constexpr (!is_well<row_mistake<typename body::effects>>)
      return identity<reported_mistake>();  // get_return_object() of the coroutine reports it
    else
      return identity<no_mistake>();
  }

  static consteval bool is_kept_well() {
    using all = handling<H, row<Es...>, Body, Policy>;
    if constexpr (handler_traits<all, Around>::is_multi_shot)
      return Policy::resuming::template may_resume<all, Around>();
    else
      return true;
  }
};

template <class Handling, class Around>
using handling_mistake = decltype(well_formed<Handling, Around>::find_any_mistake());

}  // namespace weft::detail
