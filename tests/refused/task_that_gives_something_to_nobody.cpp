// SPDX-License-Identifier: MIT
#include "sched/schedule.hpp"
#include "sched/scope.hpp"

using weft::tasking;

weft::eff<void, tasking<>> opens() {
  co_await weft::with_scope([](auto& s) -> weft::eff<void, tasking<>> {
    s.start([] { return 1; });
    co_return;
  });
}

int main() { weft::schedule(opens); }
