// SPDX-License-Identifier: MIT

/// Mistake: an operation in `spawning<...>`

#include <weft/sched/schedule.hpp>

using namespace weft;

eff<void, proc> child() { co_await proc::yield{}; }
eff<void, spawning<proc::yield>> parent() { co_await spawn(child); }
int main() { schedule(parent); }
