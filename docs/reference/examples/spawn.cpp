// SPDX-License-Identifier: MIT
// Processes: spawned with arguments, each with an id; they take turns, and may end early.
#include <iostream>
#include <string>

#include <weft/effects/effects.hpp>
#include <weft/sched/schedule.hpp>
using namespace weft;

eff<void, yielding, console> count(std::string name, int to) {
  for (int i = 1;; ++i) {
    co_await console::print_line{name + " " + std::to_string(i)};
    if (i == to) co_await yielding::exit{};
    co_await yielding::yield{};
  }
}

eff<void, spawning<yielding, console>, console> program() {
  process_id const first = co_await spawn(count, std::string("a"), 3);
  co_await spawn(count, std::string("b"), 1);
  co_await console::print_line{"spawned " + first.text() + " and " + first.nth_after(1).text()};
}

int main() { schedule(program, console_to_stream(std::cout)); }
