// SPDX-License-Identifier: MIT

/// Refused:
///   weft: a task with a result is started with a handle for it: s.start(handle, f)
/// Naming: scope<>

#include "weft/sched/schedule.hpp"
#include "weft/sched/tasks/scope.hpp"

using weft::tasking;

weft::eff<void, tasking<>> opens() {
  co_await weft::with_scope([](auto& s) -> weft::eff<void, tasking<>> {
    s.start([] { return 1; });
    co_return;
  });
}

int main() { weft::schedule(opens); }
