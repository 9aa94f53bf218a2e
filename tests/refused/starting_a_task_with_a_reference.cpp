// SPDX-License-Identifier: MIT

/// Refused:
///   weft: a task that may outlive this function borrows: open a scope, or pass what it needs as
///   arguments by value
/// Naming: reference_wrapper<int>

#include <functional>

#include "weft/sched/schedule.hpp"
#include "weft/sched/tasks/task_handle.hpp"

using weft::tasking;

weft::eff<void> adds(int& n) {
  ++n;
  co_return;
}
weft::eff<void, tasking<>> forgets() {
  int local = 1;
  (void)co_await weft::start_task(adds, std::ref(local));
}

int main() { weft::schedule(forgets); }
