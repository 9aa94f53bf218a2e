// SPDX-License-Identifier: MIT

/// Mistake: `when_all(f, g)` for `when_all(f(), g())`
/// Errors: 2

#include <weft/sched/schedule.hpp>
#include <weft/sched/tasks/when_all.hpp>

using namespace weft;

eff<int, proc> one() { co_return 1; }
eff<void, tasking<proc>> sums() {
  auto const [a, b] = co_await when_all(one, one);
  (void)(a + b);
}
int main() { schedule(sums); }
