// SPDX-License-Identifier: MIT
#include <functional>

#include "sched/schedule.hpp"
#include "sched/task_handle.hpp"

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
