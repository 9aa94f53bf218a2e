// SPDX-License-Identifier: MIT

/// Refused:
///   weft: a task that may outlive this function borrows: open a scope, or pass what it needs as
///   arguments by value
/// Naming: start_task

#include "weft/sched/schedule.hpp"
#include "weft/sched/tasks/task_handle.hpp"

using weft::tasking;

// The task borrows a local, and no process waits for the task.
weft::eff<void, tasking<>> forgets() {
  int local = 1;
  (void)co_await weft::start_task([&local] { ++local; });
}

int main() { weft::schedule(forgets); }
