// SPDX-License-Identifier: MIT

/// Refused by a deleted function:
///   weft: spawn in a coroutine whose row has two spawning<...>: keep one
/// Naming: spawning<

#include <iostream>

#include "weft/effects/effects.hpp"
#include "weft/sched/schedule.hpp"

using weft::console;
using weft::proc;
using weft::spawning;

weft::eff<void, proc> child() { co_await proc::yield{}; }
weft::eff<void, spawning<proc>, spawning<proc, console>> parent() { co_await weft::spawn(child); }

int main() { weft::schedule(parent, weft::console_to_stream(std::cout)); }
