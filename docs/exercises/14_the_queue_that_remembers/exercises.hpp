// SPDX-License-Identifier: MIT
#pragma once

// The exercises of docs/14_the_queue_that_remembers.md.  Complete each function; its test says what
// it must do.

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "weft/deque/deque.hpp"
#include "weft/effects/effects.hpp"
#include "weft/sched/schedule.hpp"

namespace the_queue_that_remembers {

using namespace weft;

// Exercise 1 (*): `twice_from_the_middle` of the chapter takes its checkpoint after three steps, and
// not after two.  What does it print for a state outside, and what for a state inside?
struct two_lines {
  std::string outside;
  std::string inside;
};
inline two_lines after_three_steps() { return {"outside:", "inside:"}; }

// Exercise 2 (*): runs the program for `steps` steps, takes a checkpoint, runs it to its end, and
// runs it from the checkpoint again.  Returns the text that this second run prints.
inline std::string second_future(eff<void, proc, console> (*program)(), int steps) {
  std::string text;
  scheduler<> s;
  s.start(program, console_to_string(text));
  (void)steps;
  s.run();
  return text;
}

// Exercise 3 (**): a line of text with undo and redo, each in O(1) and without a copy of the text.
class editor {
 public:
  void type(char c) { now_.push_back(c); }
  /// Removes the last character, if there is one.
  void erase() { (void)now_.try_pop_back(); }
  /// Takes back the last change, if there is one.
  void undo() {}
  /// Does again what was undone last, unless there was a change since.
  void redo() {}

  [[nodiscard]] std::string text() const { return {now_.begin(), now_.end()}; }

 private:
  using version = persistent_deque<char>;
  version now_;
};

// Exercise 4 (**): `trader` asks for a price, once a day, and prints its money on the last day.  The
// price is 10 on the first two days.  For each of the `prices`: how much money does it print if
// this is the price of all later days?  Run the first two days only once.
struct later_price : handler<reader<int>> {
  static inline int asked = 0;  // how often a price was asked for

  explicit later_price(int const& p) : price(&p) {}
  int on(reader<int>::ask) const {
    ++asked;
    return *price;
  }
  int const* price;
};
inline eff<void, proc, console, reader<int>> trader() {
  int money = 0;
  for (int day = 1; day <= 4; ++day) {
    money += day * co_await reader<int>::ask{};
    co_await proc::yield{};
  }
  co_await console::print(std::to_string(money));
}
inline std::vector<std::string> what_if(std::vector<int> const& prices) {
  std::vector<std::string> all;
  for (int const price : prices) {
    std::string text;
    scheduler<> s;
    s.start(trader, console_to_string(text), later_price(price));
    s.run();
    all.push_back(text);
  }
  return all;
}

// Exercise 5 (***): every text that a program can print, if at each step any of its ready processes
// may run next.  `branching` keeps the ready processes in a queue that is a value.
using ready_processes = persistent_deque<std::function<void()>>;

struct branching : handler<proc>, region {
  ready_processes ready;

  void on(proc::yield, multi_resumption<void> k) {
    ready.push_front([k] { resume(k); });
  }
  void on(proc::fork, multi_resumption<bool> k) {
    ready.push_front([k] { resume(k, true); });
    ready.push_front([k] { resume(k, false); });
  }
  void on(proc::exit, resumption<never>) {}
};

inline void every_future(branching& processes, std::string& text, std::set<std::string>& texts) {
  ready_processes const here = processes.ready;
  if (here.empty())
    texts.insert(text);
  else {
    processes.ready = here.popped_back()->second;
    here.back()();
    every_future(processes, text, texts);
  }
}
inline std::set<std::string> every_text(eff<void, proc, console> (*program)()) {
  std::set<std::string> texts;
  std::string text;
  branching processes;
  run(handle(processes | console_to_string(text), program));
  every_future(processes, text, texts);
  return texts;
}

}  // namespace the_queue_that_remembers
