// SPDX-License-Identifier: MIT

/// Refused:
///   weft: tasks in a coroutine whose row has no tasking<...>: name it in eff<...>, with the
///   effects that the tasks may perform
/// Naming: weft::row<weft::proc>

#include "weft/sched/schedule.hpp"
#include "weft/sched/tasks/task_handle.hpp"

using weft::proc;

weft::eff<void, proc> waits() {
  weft::task_handle<int> h;
  (void)co_await h;
}

int main() { weft::schedule(waits); }
