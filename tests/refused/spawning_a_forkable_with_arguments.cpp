// SPDX-License-Identifier: MIT

/// Refused by a deleted function:
///   weft: spawn(forkable, f) takes a function without parameters that can be copied, called as
///   const, and returns an eff<void, ...>
/// Naming: (int)

#include <memory>
#include <utility>

#include "weft/sched/schedule.hpp"

using weft::proc;
using weft::spawning;

weft::eff<void, proc> child(int) { co_await proc::yield{}; }
weft::eff<void, spawning<proc>> parent() { co_await weft::spawn(weft::forkable, child); }

int main() { weft::schedule(parent); }
