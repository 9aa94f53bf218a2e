// SPDX-License-Identifier: MIT

/// Refused:
///   weft: a task that may outlive this function borrows: open a scope, or pass what it needs as
///   arguments by value
/// Naming: start_task

#include "weft/sched/schedule.hpp"
#include "weft/sched/tasks/task_handle.hpp"

using weft::tasking;

// The task borrows a local; its starter would wait for it, but may throw before that.
weft::eff<void, tasking<>> waits() {
  int local = 1;
  weft::task_handle<void> h;
  co_await weft::start_task(h, [&local]() -> weft::eff<void> {
    ++local;
    co_return;
  });
  co_await h;
}

int main() { weft::schedule(waits); }
