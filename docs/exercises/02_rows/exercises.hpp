// SPDX-License-Identifier: MIT
#pragma once

// The exercises of docs/02_rows.md.  Complete each function; its test says what it must do.

#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "weft/effects/effects.hpp"

namespace rows {

using namespace weft;

using till = row<state<int>, console>;
using shortage = failure<std::string>;

inline eff<void, till> sell(std::string article, int price) {
  int const sum = co_await state<int>::get{};
  co_await state<int>::put(sum + price);
  co_await console::print_line("sold: " + article);
}

/// Sells first, and looks at the money afterwards.
inline eff<void, till, shortage> serve_as_it_was(std::string article, int price, int money) {
  co_await sell(article, price);
  if (money < price) co_await shortage::fail("not enough for " + article);
}

// Exercise 1 (*): the types of the answers of handle(state_returned(0) | given_up | printed, cake)
// and of handle(given_up | state_returned(0) | printed, cake), where `given_up` is
// failure_to_variant<std::string>(), and `cake` computes void.  Write them down before you compile.
using answer_inside = void;
using answer_outside = void;

// Exercise 2 (*): if the customer has too little money, the sum stays the same, and no line is
// printed.
inline eff<void, till, shortage> serve(std::string article, int price, int money) {
  co_await sell(article, price);
  if (money < price) co_await shortage::fail("not enough for " + article);
}

// Exercise 3 (**): calls `f`, which returns an eff<void, ...>, `n` times.
template <class F>
std::invoke_result_t<F&> times(int n, F f) {
  if (n > 0) co_await f();
}

// Exercise 4 (**): takes one bill out of the drawer, and puts ten coins in.  If there is no bill,
// fails with "no bill", and leaves the drawer as it is.
struct coins;
struct bills;
using drawer = row<tagged<coins, state<int>>, tagged<bills, state<int>>>;
inline eff<void, drawer, shortage> change_bill() {
  int const small = co_await in<coins>(state<int>::get{});
  co_await in<coins>(state<int>::put(small + 10));
}

// Exercise 5 (**): calls `f`, which returns an eff<void, till, shortage>, and says whether it came to
// its end.
template <class F>
eff<bool, till> unless_it_fails(F f) {
  (void)f;
  co_return true;
}

// Exercise 6 (***): handles state<int> for a body that computes void.  The variable changes only if
// the body comes to its end; until then the body sees its own changes.
class paid_only : public handler<state<int>> {
 public:
  explicit paid_only(int& variable) : variable_(variable) {}

  int on(state<int>::get) const { return variable_; }
  void on(state<int>::put p) const { variable_ = p.value; }

 private:
  int& variable_;
};

}  // namespace rows
