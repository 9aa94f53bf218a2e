// SPDX-License-Identifier: MIT

/// Refused:
///   weft: tasks in a coroutine whose row has no tasking<...>: name it in eff<...>, with the
///   effects that the tasks may perform
/// Naming: weft::row<weft::proc>

#include "weft/sched/schedule.hpp"
#include "weft/sched/tasks/when_all.hpp"

using weft::proc;

weft::eff<int> one() { co_return 1; }
weft::eff<void, proc> both() { (void)co_await weft::when_all(one(), one()); }

int main() { weft::schedule(both); }
