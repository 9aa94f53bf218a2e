// SPDX-License-Identifier: MIT
#include <vector>

#include "sched/schedule.hpp"
#include "sched/when_all.hpp"

using weft::tasking;

weft::eff<int, tasking<>> one() { co_return 1; }
weft::eff<void, tasking<>> both() {
  std::vector<weft::eff<int, tasking<>>> tasks;
  tasks.push_back(one());
  tasks.push_back(one());
  co_await weft::when_all(tasks);
}

int main() { weft::schedule(both); }
