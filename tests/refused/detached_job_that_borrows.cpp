// SPDX-License-Identifier: MIT

/// Refused:
///   weft: a task that may outlive this function borrows: open a scope, or pass what it needs as
///   arguments by value

#include "weft/effects/effects.hpp"
#include "weft/io/thread_pool.hpp"
#include "weft/sched/schedule.hpp"

weft::eff<void, weft::blocking_work> waits() {
  int n = 0;
  co_await weft::off_thread_detached([&n] { ++n; });
}

int main() { weft::schedule(waits, weft::thread_pool(1)); }
