// SPDX-License-Identifier: MIT
#include "sched/schedule.hpp"
#include "sched/when_all.hpp"

using weft::proc;

weft::eff<int> one() { co_return 1; }
weft::eff<void, proc> both() { (void)co_await weft::when_all(one(), one()); }

int main() { weft::schedule(both); }
