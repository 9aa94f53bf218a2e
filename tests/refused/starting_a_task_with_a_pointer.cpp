// SPDX-License-Identifier: MIT
#include "sched/schedule.hpp"
#include "sched/task_handle.hpp"

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
