// SPDX-License-Identifier: MIT

/// Mistake: `spawn(f())` for `spawn(f)`

#include <weft/sched/schedule.hpp>

using namespace weft;

eff<void, proc> child(int) { co_await proc::yield{}; }
eff<void, spawning<proc>> parent() { co_await spawn(child(1)); }
int main() { schedule(parent); }
