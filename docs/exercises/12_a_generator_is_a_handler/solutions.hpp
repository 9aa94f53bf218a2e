// SPDX-License-Identifier: MIT
#pragma once

// Solutions of the exercises of docs/12_a_generator_is_a_handler.md.

#include <optional>
#include <string>
#include <utility>

#include "weft/effects/effects.hpp"

namespace a_generator_is_a_handler {

using namespace weft;

using ints = emit<int>;

// Exercise 1 (*): n, then n / 2 or 3n + 1, and so on; 1 is emitted last.
inline eff<void, ints> collatz(int n) {
  for (; n != 1; n = n % 2 == 0 ? n / 2 : 3 * n + 1) co_await ints::value{n};
  co_await ints::value{1};
}

// Exercise 2 (*): how many values does `counting` make for a loop over each(counting, ...) |
// std::views::take(3), and for a loop that breaks at the third value?
inline eff<void, ints> counting(int* made) {
  for (;;) {
    ++*made;
    co_await ints::value{*made};
  }
}
inline int made_for_take() { return 4; }  // `take` advances behind its last value, too
inline int made_for_break() { return 3; }

// Exercise 3 (**): pushes the first n values to the next handler of emit<int>, and drops the rest
// of the computation behind them.
class first : public handler<ints> {
 public:
  explicit first(int n) : left_(n) {}
  eff<void, ints> on(ints::value v, resumption<void> k) {
    co_await ints::value{v.it};
    if (--left_ > 0) co_await std::move(k)();
  }

 private:
  int left_;
};

// Exercise 4 (**): the values of the sorted computations a() and b(), sorted.
template <class A, class B>
eff<void, ints> merged(A a, B b) {
  auto as = each(std::move(a));
  auto bs = each(std::move(b));
  auto i = as.begin();
  auto j = bs.begin();
  while (i != as.end() || j != bs.end()) {
    bool const is_from_a = j == bs.end() || (i != as.end() && *i <= *j);
    auto& least = is_from_a ? i : j;
    co_await ints::value{*least};
    ++least;
  }
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
// The resumptions are awaited in this coroutine.  So it may be suspended by what they perform.
inline eff<void, ints, console> merged_aloud(eff<void, ints, console> a,
                                             eff<void, ints, console> b) {
  step i = co_await handle(stepwise(), std::move(a));
  step j = co_await handle(stepwise(), std::move(b));
  while (i.value || j.value) {
    bool const is_from_a = !j.value || (i.value && *i.value <= *j.value);
    step& least = is_from_a ? i : j;
    co_await ints::value{*least.value};
    least = co_await std::move(least.rest)();
  }
}

// Exercise 6 (***): a place in a stream: a value, and the rest of the computation, which can be
// read any number of times.  No value: the end.
struct place {
  std::optional<int> value;
  multi_resumption<void, place> rest;
};
struct bookmarks : handler<ints> {
  place on(ints::value v, multi_resumption<void, place> k) { return {v.it, std::move(k)}; }
  place on_return() { return {}; }
};
// The place after `p`, which has a value.
inline place after(place const& p) { return resume(p.rest); }

}  // namespace a_generator_is_a_handler
