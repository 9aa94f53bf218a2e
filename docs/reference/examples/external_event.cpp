// SPDX-License-Identifier: MIT
// An event that another thread opens once.
#include <iostream>
#include <thread>

#include <weft/effects/effects.hpp>
#include <weft/sched/schedule.hpp>
using namespace weft;

eff<void, completions> program(external_event& arrived, external_event& never) {
  co_await completions::wait{arrived};
  bool const in_time = co_await completions::wait_until{never, instant()};
  std::cout << arrived.is_open() << in_time << '\n';
}

int main() {
  external_event arrived, never;
  std::jthread other([&arrived] { arrived.open(); });
  schedule([&] { return program(arrived, never); });
}
