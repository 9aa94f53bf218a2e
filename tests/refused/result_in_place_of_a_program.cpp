// SPDX-License-Identifier: MIT
#include "effects/effects.hpp"
#include "sched/schedule.hpp"

weft::eff<void, weft::proc> hello() { co_await weft::proc::yield{}; }

int main() { weft::schedule(hello()); }
