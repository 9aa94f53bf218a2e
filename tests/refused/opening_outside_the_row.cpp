// SPDX-License-Identifier: MIT
#include "sched/schedule.hpp"

using weft::proc;

weft::eff<void, proc> opens() { co_await weft::open<int>(); }

int main() { (void)&opens; }
