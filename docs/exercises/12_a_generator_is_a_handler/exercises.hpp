// SPDX-License-Identifier: MIT
#pragma once

// The exercises of docs/12_a_generator_is_a_handler.md.  Complete each function and handler; its
// test says what it must do.

#include <optional>
#include <string>
#include <utility>

#include "weft/effects/effects.hpp"

namespace a_generator_is_a_handler {

using namespace weft;

using ints = emit<int>;

// Exercise 1 (*): n, then n / 2 or 3n + 1, and so on; 1 is emitted last.
inline eff<void, ints> collatz(int n) { co_await ints::value{n}; }

// Exercise 2 (*): how many values does `counting` make for a loop over each(counting, ...) |
// std::views::take(3), and for a loop that breaks at the third value?
inline eff<void, ints> counting(int* made) {
  for (;;) {
    ++*made;
    co_await ints::value{*made};
  }
}
inline int made_for_take() { return 0; }
inline int made_for_break() { return 0; }

// Exercise 3 (**): pushes the first n values to the next handler of emit<int>, and drops the rest
// of the computation behind them.
class first : public handler<ints> {
 public:
  explicit first(int n) : left_(n) {}
  void on(ints::value, resumption<void>) { (void)left_; }

 private:
  int left_;
};

// Exercise 4 (**): the values of the sorted computations a() and b(), sorted.
template <class A, class B>
eff<void, ints> merged(A a, B /*b*/) {
  for (int const n : each(a)) co_await ints::value{n};
}

// Exercise 5 (***): the same; the computations may print, too.
struct step {
  std::optional<int> value;
  resumption<void, step> rest;
};
struct stepwise : handler<ints> {
  step on(ints::value v, resumption<void, step> k) { return {v.it, std::move(k)}; }
  step on_return() { return {}; }
};
inline eff<void, ints, console> merged_aloud(eff<void, ints, console> a,
                                             eff<void, ints, console> /*b*/) {
  co_await std::move(a);
}

// Exercise 6 (***): a place in a stream: a value, and the rest of the computation, which can be
// read any number of times.  No value: the end.
struct place {
  std::optional<int> value;
  multi_resumption<void, place> rest;
};
struct bookmarks : handler<ints> {
  place on(ints::value v, multi_resumption<void, place>) { return {v.it, {}}; }
  place on_return() { return {}; }
};
// The place after `p`, which has a value.
inline place after(place const& /*p*/) { return {}; }

}  // namespace a_generator_is_a_handler
