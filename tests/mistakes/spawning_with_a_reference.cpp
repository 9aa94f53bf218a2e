// SPDX-License-Identifier: MIT

/// Mistake: `spawn(f, x)` for `spawn(f, std::ref(x))`

#include <weft/sched/schedule.hpp>

using namespace weft;

eff<void, proc> child(int& n) {
  co_await proc::yield{};
  ++n;
}
eff<void, spawning<proc>> parent(int& n) { co_await spawn(child, n); }
int main() {
  int n = 0;
  schedule([&n] { return parent(n); });
}
