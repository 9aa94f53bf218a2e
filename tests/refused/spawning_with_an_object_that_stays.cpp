// SPDX-License-Identifier: MIT

/// Refused:
///   weft: an argument can be neither copied nor moved: pass std::ref(x), to an object that outlives
///   the process

#include "weft/effects/effects.hpp"
#include "weft/sched/schedule.hpp"

weft::eff<void, weft::syncing> locks(weft::mutex&) { co_return; }

weft::eff<void, weft::spawning<weft::syncing>> program(weft::mutex& m) {
  co_await weft::spawn([](auto&& any) -> weft::eff<void, weft::syncing> { return locks(any); }, m);
}

int main() {
  weft::mutex m;
  weft::schedule([&] { return program(m); });
}
