// SPDX-License-Identifier: MIT

/// Mistake: `spawn` of a function with more effects

#include <iostream>

#include <weft/effects/effects.hpp>
#include <weft/sched/schedule.hpp>

using namespace weft;

eff<void, proc, console> child() { co_await console::print_line("hello"); }
eff<void, spawning<proc>, console> parent() { co_await spawn(child); }
int main() { schedule(parent, console_to_stream(std::cout)); }
