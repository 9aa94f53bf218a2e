// SPDX-License-Identifier: MIT

/// Refused:
///   weft: the task may perform an effect that tasking<...> of the coroutine that opened the scope
///   does not name
/// Naming: weft::mail

#include "weft/sched/schedule.hpp"
#include "weft/sched/tasks/scope.hpp"

using weft::mail;
using weft::tasking;

weft::eff<void, mail> one() { co_return; }
weft::eff<void, tasking<>> opens() {
  co_await weft::with_scope([](auto& s) -> weft::eff<void, tasking<>> {
    s.start(one);
    co_return;
  });
}

int main() { weft::schedule(opens); }
