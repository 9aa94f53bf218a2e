// SPDX-License-Identifier: MIT

/// Refused:
///   weft: a handler passed to schedule stands outside all processes and answers them at once:
///   on(operation), without a resumption
/// Naming: keeper

#include "weft/effects/effects.hpp"
#include "weft/sched/schedule.hpp"

struct keeper {
  void on(weft::console::print const&, weft::resumption<void>) {}
  void on(weft::console::print_line const&) {}
};

weft::eff<void, weft::console> hello() { co_await weft::console::print{"hello"}; }

int main() { weft::schedule(hello, keeper()); }
