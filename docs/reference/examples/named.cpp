// SPDX-License-Identifier: MIT
// A process has the name of its function in reports, or one that the program gives it.
#include <functional>
#include <iostream>

#include <weft/effects/effects.hpp>
#include <weft/sched/schedule.hpp>
using namespace weft;

eff<void, syncing> waits(gate& g) { co_await syncing::wait{g}; }
eff<void, syncing> logger(gate& g) { return named("logger", waits(g)); }

eff<void, spawning<syncing>> two(gate& g) {
  co_await spawn(waits, std::ref(g));
  co_await spawn(logger, std::ref(g));
}

int main() {
  gate g;
  try {
    schedule([&g] { return two(g); });
  } catch (deadlock const& d) {
    for (deadlock::waiter const& w : d.all)
      std::cout << w.process.text() << (w.function == "logger" ? " is the logger\n" : "\n");
  }
}
