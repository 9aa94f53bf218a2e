// SPDX-License-Identifier: MIT
#include "sched/schedule.hpp"

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
