// SPDX-License-Identifier: MIT

/// Refused:
///   weft: schedule takes a program: a function that can be copied, called as const without
///   arguments, and returns eff<void, ...>
/// Naming: eff<void, weft::proc>

#include "weft/effects/effects.hpp"
#include "weft/sched/schedule.hpp"

weft::eff<void, weft::proc> hello() { co_await weft::proc::yield{}; }

int main() { weft::schedule(hello()); }
