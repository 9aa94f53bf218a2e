// SPDX-License-Identifier: MIT

/// Mistake: `spawn` of a closure with captures

#include <weft/sched/schedule.hpp>

using namespace weft;

eff<void, spawning<proc>> parent(int& n) {
  co_await spawn([&n]() -> eff<void, proc> {
    co_await proc::yield{};
    ++n;
  });
}
int main() {
  int n = 0;
  schedule([&n] { return parent(n); });
}
