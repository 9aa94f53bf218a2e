// SPDX-License-Identifier: MIT

/// Mistake: an effect without a handler, in `schedule`

#include <weft/effects/effects.hpp>
#include <weft/sched/schedule.hpp>

using namespace weft;

eff<void, proc, console> greets() { co_await console::print_line("hello"); }
int main() { schedule(greets); }
