// SPDX-License-Identifier: MIT

/// Refused by a deleted function:
///   weft: spawn takes no closure with captures, which would be gone when the process runs: pass
///   what it captures as arguments, or write spawn(forkable, f)
/// Naming: lambda

#include "weft/sched/schedule.hpp"

using weft::proc;
using weft::spawning;

weft::eff<void, spawning<proc>> parent() {
  int n = 1;
  co_await weft::spawn([&n]() -> weft::eff<void, proc> {
    co_await proc::yield{};
    ++n;
  });
}

int main() { weft::schedule(parent); }
