// SPDX-License-Identifier: MIT

/// Mistake: `spawn` without `co_await`

#include <weft/sched/schedule.hpp>

using namespace weft;

eff<void, proc> child() { co_await proc::yield{}; }
eff<void, spawning<proc>> parent() {
  spawn(child);
  co_return;
}
int main() { schedule(parent); }
