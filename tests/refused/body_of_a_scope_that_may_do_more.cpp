// SPDX-License-Identifier: MIT

/// Refused:
///   weft: the body of the scope may perform an effect outside the row of the coroutine that opens
///   the scope

#include "weft/sched/schedule.hpp"
#include "weft/sched/tasks/scope.hpp"

using weft::proc;
using weft::tasking;

weft::eff<void, tasking<proc>> opens() {
  co_await weft::with_scope(
      [](auto&) -> weft::eff<void, tasking<proc>, proc> { co_await proc::yield{}; });
}

int main() { weft::schedule(opens); }
