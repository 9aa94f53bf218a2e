// SPDX-License-Identifier: MIT

/// Mistake: `spawn` without `spawning<...>` in the row

#include <weft/sched/schedule.hpp>

using namespace weft;

eff<void, proc> child() { co_await proc::yield{}; }
eff<void, proc> parent() { co_await spawn(child); }
int main() { schedule(parent); }
