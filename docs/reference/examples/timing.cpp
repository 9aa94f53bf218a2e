// SPDX-License-Identifier: MIT
// The clock of a scheduler: with virtual time the program takes no time.
#include <chrono>
#include <iostream>

#include <weft/effects/effects.hpp>
#include <weft/sched/schedule.hpp>
using namespace weft;
using namespace std::chrono_literals;

eff<void, timing> program() {
  instant const start = co_await timing::now{};
  co_await timing::sleep_for{90min};
  instant const middle = co_await timing::now{};
  co_await timing::sleep_until{start + 2h};
  instant const end = co_await timing::now{};
  std::cout << (middle - start) / 1min << " and " << (end - middle) / 1min << " minutes\n";
}

int main() { schedule({.virtual_time = true}, program); }
