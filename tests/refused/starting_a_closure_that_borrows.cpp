// SPDX-License-Identifier: MIT
#include "sched/schedule.hpp"
#include "sched/task_handle.hpp"

using weft::tasking;

// Use case 3 of the tasks: a local is borrowed, and nobody waits.
weft::eff<void, tasking<>> forgets() {
  int local = 1;
  (void)co_await weft::start_task([&local] { ++local; });
}

int main() { weft::schedule(forgets); }
