// SPDX-License-Identifier: MIT

/// Refused by a deleted function:
///   weft: when_all and when_any take computations, or one range of them from which they may be
///   taken: a container that is moved, or a view that makes them
/// Naming: vector<weft::

#include <vector>

#include "weft/sched/schedule.hpp"
#include "weft/sched/tasks/when_all.hpp"

using weft::tasking;

weft::eff<int, tasking<>> one() { co_return 1; }
weft::eff<void, tasking<>> both() {
  std::vector<weft::eff<int, tasking<>>> tasks;
  tasks.push_back(one());
  tasks.push_back(one());
  co_await weft::when_all(tasks);
}

int main() { weft::schedule(both); }
