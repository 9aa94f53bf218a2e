// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

#include "effects/eff.hpp"
#include "effects/handle.hpp"
#include "effects/row.hpp"
#include "effects/run.hpp"

/// The handlers that are passed to `schedule`: which takes which effect, and running under them.
namespace weft::detail {

template <class T>
constexpr bool is_computation = false;
template <class... Es>
constexpr bool is_computation<eff<void, Es...>> = true;

/// What schedule takes.
template <class Program>
constexpr bool is_program = false;
template <class Program>
  requires std::is_invocable_v<Program const&>
constexpr bool is_program<Program> = is_computation<std::invoke_result_t<Program const&>>;

/// An eff with a row that is known as a type.
template <class T, class Row>
struct eff_with_row;
template <class T, class... Es>
struct eff_with_row<T, row<Es...>> : identity<eff<T, Es...>> {};
template <class T, class Row>
using eff_of = typename eff_with_row<T, Row>::type;

// ---- what clauses a handler has

template <class H, class O>
concept has_value_clause = has_clause<H, O>;
template <class H, class O>
concept takes_the_rest =
    takes_auto<H, O, void> || has_clause<H, O, resumption<typename O::result>> ||
    has_clause<H, O, multi_resumption<typename O::result>> || has_clause<H, O, asking<row<>>>;
template <class H, class Operations>
constexpr bool has_some_clause = false;
template <class H, class... Os>
constexpr bool has_some_clause<H, op_list<Os...>> =
    ((has_value_clause<H, Os> || takes_the_rest<H, Os>) || ...);
template <class H, class Row>
constexpr bool only_value_clauses = false;
template <class H, class... Es>
constexpr bool only_value_clauses<H, row<Es...>> = ([]<class... Os>(op_list<Os...>) {
  return (!takes_the_rest<H, Os> && ...);
}(typename Es::operations()) && ...);

/// Speaks for an effect without a handler.
template <class Effect, bool Handled>
consteval bool require_handler() {
  static_assert(Handled,
                "weft: no handler was passed that can be called as h.on(operation) for this effect "
                "of the program");
  return Handled;
}

template <class Row, class... Hs>
struct outside;
template <class... Es, class... Hs>
struct outside<row<Es...>, Hs...> {
  template <class E>
  static constexpr bool is_handled =
      (has_some_clause<std::remove_reference_t<Hs>, typename E::operations> || ...);

  static consteval bool is_well_formed() {
    constexpr bool answer_at_once =
        (only_value_clauses<std::remove_reference_t<Hs>, row<Es...>> && ...);
    static_assert(answer_at_once,
                  "weft: a handler passed to schedule stands outside all processes and answers "
                  "them at once: on(operation), without a resumption");
    if constexpr (answer_at_once)
      return (require_handler<Es, is_handled<Es>>() && ...);
    else
      return false;
  }
};

template <class Row, class... Hs>
consteval bool can_stand_outside() {
  return outside<Row, Hs...>::is_well_formed();
}

/// The effects of a row for which `H` has clauses.
template <class H, class Row>
struct taken_by;
template <class H, class... Es>
struct taken_by<H, row<Es...>>
    : collected<row<>, std::conditional_t<has_some_clause<H, typename Es::operations>, row<Es>,
                                          row<>>...> {};

/// Runs `body`, a function that gives an eff whose row is `Row`, under the handlers, the first one
/// innermost.  Each takes the effects for which it has clauses and none before it had.
template <class Row, class Body>
void run_under(Body body) {
  run(body());
}
template <class Row, class Body, class H, class... Hs>
void run_under(Body body, H& h, Hs&... others) {
  using taken = typename taken_by<H, Row>::type;
  using left = row_difference<Row, taken>;
  run_under<left>([&]() -> eff_of<void, left> { co_await make_handling<taken, H&>(h, body); },
                  others...);
}

}  // namespace weft::detail
