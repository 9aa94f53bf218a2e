// SPDX-License-Identifier: MIT

/// Mistake: `s.start(f, x)` for `s.start(f, std::ref(x))`

#include <weft/effects/effects.hpp>
#include <weft/sched/schedule.hpp>
#include <weft/sched/tasks/scope.hpp>

using namespace weft;

eff<void, proc> works(int& n) {
  co_await proc::yield{};
  ++n;
}
eff<void, tasking<proc>> all(int& n) {
  co_await with_scope([&](auto& s) { s.start(works, n); });
}
int main() {
  int n = 0;
  schedule([&n] { return all(n); });
}
