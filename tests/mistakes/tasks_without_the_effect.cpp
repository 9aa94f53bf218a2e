// SPDX-License-Identifier: MIT

/// Mistake: `when_all` without `tasking<...>` in the row
/// Lines: 18

#include <weft/sched/schedule.hpp>
#include <weft/sched/tasks/when_all.hpp>

using namespace weft;

eff<int, proc> one() { co_return 1; }
eff<void, proc> sums() {
  auto const [a, b] = co_await when_all(one(), one());
  (void)(a + b);
}
int main() { schedule(sums); }
