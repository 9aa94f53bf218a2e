// SPDX-License-Identifier: MIT
#pragma once

// Solutions of the exercises of docs/02_rows.md.

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
using answer_inside = std::variant<int, std::string>;
using answer_outside = std::pair<std::variant<std::monostate, std::string>, int>;

// Exercise 2 (*): if the customer has too little money, the sum stays the same, and no line is
// printed.
inline eff<void, till, shortage> serve(std::string article, int price, int money) {
  if (money < price) co_await shortage::fail("not enough for " + article);
  co_await sell(article, price);
}

// Exercise 3 (**): calls `f`, which returns an eff<void, ...>, `n` times.
template <class F>
std::invoke_result_t<F&> times(int n, F f) {
  for (int i = 0; i < n; ++i) co_await f();
}

// Exercise 4 (**): takes one bill out of the drawer, and puts ten coins in.  If there is no bill,
// fails with "no bill", and leaves the drawer as it is.
struct coins;
struct bills;
using drawer = row<tagged<coins, state<int>>, tagged<bills, state<int>>>;
inline eff<void, drawer, shortage> change_bill() {
  int const large = co_await in<bills>(state<int>::get{});
  if (large == 0) co_await shortage::fail("no bill");
  co_await in<bills>(state<int>::put(large - 1));
  int const small = co_await in<coins>(state<int>::get{});
  co_await in<coins>(state<int>::put(small + 10));
}

// Exercise 5 (**): calls `f`, which returns an eff<void, till, shortage>, and says whether it came to
// its end.
template <class F>
eff<bool, till> unless_it_fails(F f) {
  bool const has_ended = co_await handle(failure_to_optional<std::string>(), f());
  co_return has_ended;
}

// Exercise 6 (***): handles state<int> for a body that computes void.  The variable changes only if
// the body comes to its end; until then the body sees its own changes.
class paid_only : public handler<state<int>> {
 public:
  explicit paid_only(int& variable) : variable_(variable), copy_(variable) {}

  int on(state<int>::get) const { return copy_; }
  void on(state<int>::put p) { copy_ = p.value; }
  void on_return() { variable_ = copy_; }

 private:
  int& variable_;
  int copy_;
};

}  // namespace rows
