// SPDX-License-Identifier: MIT

/// Refused by a deleted function:
///   weft: with_lock takes a mutex, and a function without arguments: not its result
/// Naming: weft::with_lock

#include "weft/sched/schedule.hpp"
#include "weft/sched/sync/mutex.hpp"

using weft::syncing;

int next(int n) { return n + 1; }
weft::eff<void, syncing> program() {
  weft::mutex m;
  co_await weft::with_lock(m, next(1));
}

int main() { weft::schedule(program); }
