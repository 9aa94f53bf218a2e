// SPDX-License-Identifier: MIT

/// Refused by a deleted function:
///   weft: spawn takes a function that returns an eff<void, ...>, and its arguments: not its
///   result; a reference goes as std::ref(x)
/// Naming: eff<void

#include "weft/sched/schedule.hpp"

using weft::proc;
using weft::spawning;

weft::eff<void, proc> child() { co_await proc::yield{}; }
weft::eff<void, spawning<proc>> parent() { co_await weft::spawn(child()); }

int main() { weft::schedule(parent); }
