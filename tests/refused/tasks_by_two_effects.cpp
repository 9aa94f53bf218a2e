// SPDX-License-Identifier: MIT
#include "sched/mail.hpp"
#include "sched/schedule.hpp"
#include "sched/when_all.hpp"

using weft::mail;
using weft::proc;
using weft::tasking;

weft::eff<int> one() { co_return 1; }
weft::eff<void, tasking<mail>, tasking<proc>> both() {
  (void)co_await weft::when_all(one(), one());
}

int main() { weft::schedule(both); }
