// SPDX-License-Identifier: MIT
#include "sched/schedule.hpp"
#include "sched/task_handle.hpp"

using weft::proc;

weft::eff<void, proc> waits() {
  weft::task_handle<int> h;
  (void)co_await h;
}

int main() { weft::schedule(waits); }
