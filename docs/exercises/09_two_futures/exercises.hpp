// SPDX-License-Identifier: MIT
#pragma once
// The exercises of docs/09_two_futures.md.  Complete each function; its test says what it must do.

#include <string>
#include <vector>

#include "weft/effects/effects.hpp"
#include "weft/sched/schedule.hpp"

namespace two_futures {

using namespace weft;

// Exercise 1 (*): the right-hand traveller arrives first.  Change one word, or add one.
inline eff<void, proc, console> right_first() {
  bool const left = co_await proc::fork{};
  co_await console::print_line{left ? "left" : "right"};
}

// Exercise 2 (*): how many lines does this program print?  Write it down before you run it.
inline eff<void, proc, console> three_days() {
  for (int day = 1; day <= 3; ++day) co_await proc::fork{};
  co_await console::print_line{"arrived"};
}
inline int lines_of_three_days() { return 0; }

// Exercise 3 (**): a process for each text, which prints it; in the order of the texts.
inline eff<void, proc, console> print_each(std::vector<std::string> texts) {
  if (texts.empty()) co_return;
  co_await console::print_line{texts.front()};
}

// Exercise 4 (***): a handler of `proc` that knows one road: each fork is answered with true, and
// the other road is not taken.  `exit` ends the body.
struct one_road : handler<proc> {
  void on(proc::yield) {}
  bool on(proc::fork) { return false; }
  void on(proc::exit, resumption<never>) {}
};

}  // namespace two_futures
