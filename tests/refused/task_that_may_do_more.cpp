// SPDX-License-Identifier: MIT

/// Refused:
///   weft: the task may perform an effect that tasking<...> of the coroutine that starts it does
///   not name
/// Naming: weft::mail

#include "weft/sched/schedule.hpp"
#include "weft/sched/tasks/when_all.hpp"

using weft::mail;
using weft::proc;
using weft::tasking;

weft::eff<int, proc, mail> one() { co_return 1; }
weft::eff<void, tasking<proc>> both() { (void)co_await weft::when_all(one(), one()); }

int main() { weft::schedule(both); }
