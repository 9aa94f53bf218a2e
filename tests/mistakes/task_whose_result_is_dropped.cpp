// SPDX-License-Identifier: MIT

/// Mistake: `s.start(f)` of a task with a result, without a handle

#include <weft/effects/effects.hpp>
#include <weft/sched/schedule.hpp>
#include <weft/sched/tasks/scope.hpp>

using namespace weft;

eff<int, proc> works() {
  co_await proc::yield{};
  co_return 1;
}
eff<void, tasking<proc>> all() {
  co_await with_scope([](auto& s) { s.start(works); });
}
int main() { schedule(all); }
