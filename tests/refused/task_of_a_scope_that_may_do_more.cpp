// SPDX-License-Identifier: MIT
#include "sched/schedule.hpp"
#include "sched/scope.hpp"

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
