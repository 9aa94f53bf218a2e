// SPDX-License-Identifier: MIT
#include "effects/effects.hpp"
#include "sched/schedule.hpp"

weft::eff<void, weft::proc, weft::console> hello() { co_await weft::console::print{"hello"}; }

int main() { weft::schedule(hello); }
