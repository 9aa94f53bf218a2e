// SPDX-License-Identifier: MIT
// Senders: awaiting one, with a time limit or without; a program and a process as senders.
#include "examples/senders.hpp"  // in a program: <weft/adapters/stdexec.hpp>

#include <chrono>
#include <iostream>
#include <optional>
#include <string>
#include <thread>
#include <tuple>

#include <weft/adapters/execution.hpp>
#include <weft/effects/effects.hpp>
#include <weft/sched/schedule.hpp>
using namespace weft;
using x = senders::names;  // in a program: in_stdexec

eff<int, completions, console> asks() {
  int const n = co_await await_sender<x>(senders::just(20));
  auto const [a, b] = co_await await_sender<x>(senders::just(1, std::string("two")));
  co_await console::print_line{std::to_string(a) + ' ' + b};
  try {
    co_await await_sender<x>(senders::just_stopped());
  } catch (sender_stopped const& e) {
    std::cout << e.what() << '\n';
  }
  std::optional<int> const in_time =
      co_await await_sender_until<x>(senders::just(1), instant::max());
  co_return n + in_time.value_or(0);
}
eff<int, completions> twice(int n) { co_return 2 * co_await await_sender<x>(senders::just(n)); }
eff<void, completions, tasking<>> nothing() { co_return; }

int main() {
  auto const program = as_sender<x>(asks, console_to_stream(std::cout));
  std::cout << senders::sync_wait<int>(program).value() << '\n';

  scheduler<> s;
  s.start(nothing);
  std::jthread const other([outside = s.submitter<completions, tasking<>>()] {
    auto const process = submitted_as_sender<x>(outside, twice, 21);
    std::cout << senders::sync_wait<int>(process).value() << '\n';
  });
  s.run();
}
