// SPDX-License-Identifier: MIT

/// Refused by a deleted function:
///   weft: spawn in a coroutine whose row has no spawning<...>: name it in eff<...>, with the
///   effects that the spawned process may perform
/// Naming: row<weft::proc>

#include "weft/sched/schedule.hpp"

weft::eff<void, weft::proc> child() { co_await weft::proc::yield{}; }
weft::eff<void, weft::proc> parent() { co_await weft::spawn(child); }

int main() { weft::schedule(parent); }
