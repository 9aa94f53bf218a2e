// SPDX-License-Identifier: MIT

/// Mistake: a scope whose body is an ordinary function with a result

#include <weft/sched/schedule.hpp>
#include <weft/sched/tasks/scope.hpp>

using namespace weft;

eff<void, proc> task() { co_await proc::yield{}; }
eff<void, tasking<proc>> program() {
  co_await with_scope([](auto& s) {
    s.start(task);
    return true;
  });
}
int main() { schedule(program); }
