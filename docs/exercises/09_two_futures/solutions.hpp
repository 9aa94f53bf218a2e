// SPDX-License-Identifier: MIT
#pragma once

// Solutions of the exercises of docs/09_two_futures.md.

#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "weft/effects/effects.hpp"
#include "weft/sched/schedule.hpp"

namespace two_futures {

using namespace weft;

// Exercise 1 (*): the right-hand traveller arrives first.  Change one word, or add one.
inline eff<void, proc, console> right_first() {
  bool const left = !co_await proc::fork{};
  co_await console::print_line{left ? "left" : "right"};
}

// Exercise 2 (*): how many lines does this program print?  Write it down before you run it.
inline eff<void, proc, console> three_days() {
  for (int day = 1; day <= 3; ++day) co_await proc::fork{};
  co_await console::print_line{"arrived"};
}
inline int lines_of_three_days() { return 8; }

// Exercise 3 (*): how many bags does this program make, and how many does it put down?
struct bag {
  static inline int made = 0;
  static inline int put_down = 0;
  bag() { ++made; }
  bag(bag const&) = delete;
  bag& operator=(bag const&) = delete;
  ~bag() { ++put_down; }
};
inline eff<void, proc> bag_at_the_crossroads() {
  bag const mine;
  bool const left = co_await proc::fork{};
  if (left) co_await proc::exit{};
  co_await proc::yield{};
}
inline int bags_made() { return 2; }      // the replay makes its own
inline int bags_put_down() { return 2; }  // the exit drops one

// Exercise 4 (**): a process for each text, which prints it; in the order of the texts.
inline eff<void, proc, console> print_each(std::vector<std::string> texts) {
  for (std::string const& text : texts) {
    bool const is_its_process = co_await proc::fork{};
    if (is_its_process) {
      co_await console::print_line{text};
      co_return;
    }
  }
}

// Exercise 5 (**): the four lines of this program, in their order.
inline eff<void, proc, console> winding_road() {
  std::string road;
  for (int crossroads = 1; crossroads <= 2; ++crossroads) {
    bool const left = co_await proc::fork{};
    road += left ? 'L' : 'R';
    if (left) co_await proc::yield{};
  }
  co_await console::print_line{road};
}
inline std::vector<std::string> arrivals() {
  // The queue: T F | F T | T FT FF | FT FF TT TF | FF TT TF FT | TT TF FT | TF FT TT ...
  return {"RR", "LR", "RL", "LL"};
}

// Exercise 6 (**): a handler of `proc` that knows one road: each fork is answered with true, and
// the other road is not taken.  `exit` ends the body.
struct one_road : handler<proc> {
  void on(proc::yield) {}
  bool on(proc::fork) { return true; }
  void on(proc::exit, resumption<never>) {}
};

// Exercise 7 (***): the process that became ready last runs first; of the two processes of a fork,
// the one that gets true.
class newest_first : public handler<proc>, public region {
 public:
  // The process is the newest, so it runs on at once.
  void on(proc::yield, multi_resumption<void> k) {
    ready_.push_back([k] { resume(k); });
  }
  void on(proc::fork, multi_resumption<bool> k) {
    ready_.push_back([k] { resume(k, false); });
    ready_.push_back([k] { resume(k, true); });
  }
  void on(proc::exit, resumption<never>) {}

  void run_all() {
    while (!ready_.empty()) {
      std::function<void()> const next = std::move(ready_.back());
      ready_.pop_back();
      next();
    }
  }

 private:
  std::deque<std::function<void()>> ready_;
};

}  // namespace two_futures
