// SPDX-License-Identifier: MIT

/// Refused:
///   weft: a task that may outlive this function borrows: open a scope, or pass what it needs as
///   arguments by value
/// Naming: start_task

#include "weft/sched/schedule.hpp"
#include "weft/sched/tasks/task_handle.hpp"

using weft::tasking;

weft::eff<void> adds(int* n) {
  ++*n;
  co_return;
}
weft::eff<void, tasking<>> forgets() {
  int local = 1;
  weft::task_handle<void> h;
  co_await weft::start_task(h, adds, &local);
}

int main() { weft::schedule(forgets); }
