// SPDX-License-Identifier: MIT

/// Refused by a deleted function:
///   weft: a wait at a condition takes the guard of a mutex, and a predicate: a function without
///   arguments that says whether to go on
/// Naming: weft::condition::wait

#include "weft/sched/schedule.hpp"
#include "weft/sched/sync/condition.hpp"

using weft::syncing;

weft::eff<void, syncing> program() {
  weft::mutex m;
  weft::condition c;
  auto held = co_await m.lock();
  co_await c.wait(held, 7);
}

int main() { weft::schedule(program); }
