// SPDX-License-Identifier: MIT

/// Refused:
///   weft: tasks in a coroutine whose row has no tasking<...>: name it in eff<...>, with the
///   effects that the tasks may perform
/// Naming: weft::row<weft::proc>

#include "weft/sched/schedule.hpp"
#include "weft/sched/tasks/scope.hpp"

using weft::proc;

weft::eff<void, proc> opens() {
  co_await weft::with_scope([](auto&) -> weft::eff<void, proc> { co_return; });
}

int main() { weft::schedule(opens); }
