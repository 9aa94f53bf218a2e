// SPDX-License-Identifier: MIT

/// Refused:
///   weft: tasks in a coroutine whose row has several tasking<...>, none of which names the effects of all: keep one
/// Naming: weft::tasking<weft::proc>

#include "weft/sched/mail/mail.hpp"
#include "weft/sched/schedule.hpp"
#include "weft/sched/tasks/when_all.hpp"

using weft::mail;
using weft::proc;
using weft::tasking;

weft::eff<int> one() { co_return 1; }
weft::eff<void, tasking<mail>, tasking<proc>> both() {
  (void)co_await weft::when_all(one(), one());
}

int main() { weft::schedule(both); }
