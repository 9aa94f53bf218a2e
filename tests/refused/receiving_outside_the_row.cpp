// SPDX-License-Identifier: MIT
#include "sched/schedule.hpp"

using weft::proc;

weft::eff<int, proc> receives(weft::inbox<int> in) { co_return co_await in.receive(); }

int main() { (void)&receives; }
