// SPDX-License-Identifier: MIT
#include "sched/schedule.hpp"
#include "sched/scope.hpp"

using weft::proc;

weft::eff<void, proc> opens() {
  co_await weft::with_scope([](auto&) -> weft::eff<void, proc> { co_return; });
}

int main() { weft::schedule(opens); }
