// SPDX-License-Identifier: MIT
#include "sched/schedule.hpp"

using weft::proc;

weft::eff<void, proc> sends(weft::address<int> to) { co_await to.send(1); }

int main() { (void)&sends; }
