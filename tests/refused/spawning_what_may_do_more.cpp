// SPDX-License-Identifier: MIT

/// Refused by a deleted function:
///   weft: the spawned process may perform an effect that spawning<...> of the coroutine that
///   spawns it does not name
/// Naming: weft::console

#include <iostream>

#include "weft/effects/effects.hpp"
#include "weft/sched/schedule.hpp"

using weft::console;
using weft::proc;
using weft::spawning;

weft::eff<void, proc, console> child() { co_await console::print{"hello"}; }
weft::eff<void, console, spawning<proc>> parent() { co_await weft::spawn(child); }

int main() { weft::schedule(parent, weft::console_to_stream(std::cout)); }
