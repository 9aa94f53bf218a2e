// SPDX-License-Identifier: MIT
#pragma once

// The exercises of docs/05_ports_and_four_states.md.  Complete each function; its test says what it must do.

#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "weft/effects/effects.hpp"
#include "weft/sched/schedule.hpp"

namespace ports_and_four_states {

using namespace weft;
using namespace std::chrono_literals;

// Exercise 1 (*): the lines that `asks` prints, in their order.
inline eff<void, mail, console> answers(inbox<int> in) {
  for (auto n = co_await in.next(); n; n = co_await in.next())
    co_await console::print_line("got " + std::to_string(*n));
}
inline eff<void, spawning<mail, console>, mail, console> asks() {
  auto [in, to] = co_await open<int>();
  co_await spawn(answers, std::move(in));
  for (int i = 1; i != 4; ++i) {
    co_await console::print_line("send " + std::to_string(i));
    co_await to.send(i);
  }
}
inline std::vector<std::string> lines_of_asks() { return {}; }

// Exercise 2 (*): receives numbers until no sender is left; yields their sum.
inline eff<int, mail> sum_of(inbox<int> in) { co_return co_await in.receive(); }

// Exercise 3 (*): for how many questions does this program end, at most?
inline eff<void, mail> squares(inbox<int> in, address<int> to) {
  for (auto n = co_await in.next(); n; n = co_await in.next()) co_await to.send(*n * *n);
}
inline eff<void, spawning<mail>, mail> questions_first(int n) {
  auto questions = co_await open<int>({.capacity = 1});
  auto [in, to] = co_await open<int>({.capacity = 1});
  co_await spawn(squares, std::move(questions.in), std::move(to));
  for (int i = 1; i <= n; ++i) co_await questions.to.send(i);
  for (int i = 1; i <= n; ++i) (void)co_await in.receive();
}
inline int most_questions() { return 0; }

// Exercise 4 (**): passes on the messages of both inboxes, as they come, until neither has a sender
// left, or the receiver has gone.
inline eff<void, mail> merge(inbox<int> a, inbox<int> b, address<int> to) {
  for (auto n = co_await a.next(); n; n = co_await a.next()) co_await to.send(*n);
  for (auto n = co_await b.next(); n; n = co_await b.next()) co_await to.send(*n);
}

// Exercise 5 (**): sends the numbers in their order.  A number for which there is no room within
// `patience` is added to `dropped`; when the inbox is gone, so are all that are left, at once.
inline eff<void, mail, timing> offer_all(std::vector<int> numbers, address<int> to,
                                         instant::duration patience, std::vector<int>& dropped) {
  for (int const n : numbers) {
    bool const is_sent = co_await to.send(n);
    if (!is_sent) dropped.push_back(n);
  }
  (void)patience;
}

// Exercise 6 (**): a waker takes the process if that waits, and no other waker may take it as well.
struct waiting_process {
  bool waits = true;
  int times_taken = 0;
};
inline eff<void, proc> waker(waiting_process& p) {
  if (p.waits) {
    co_await proc::yield{};
    p.waits = false;
    ++p.times_taken;
  }
}

// Exercise 7 (***): sends messages on in batches: of three messages, or of those that have come within
// 10 ms after the first.
inline eff<void, mail, timing> batches(inbox<int> in, address<std::vector<int>> to) {
  for (auto n = co_await in.next(); n; n = co_await in.next()) {
    std::vector<int> batch{*n};
    co_await to.send(std::move(batch));
  }
}

}  // namespace ports_and_four_states
