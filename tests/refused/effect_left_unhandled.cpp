// SPDX-License-Identifier: MIT

/// Refused:
///   weft: no handler was passed that can be called as h.on(operation) for this effect of the
///   program
/// Naming: weft::console

#include "weft/effects/effects.hpp"
#include "weft/sched/schedule.hpp"

weft::eff<void, weft::proc, weft::console> hello() { co_await weft::console::print{"hello"}; }

int main() { weft::schedule(hello); }
