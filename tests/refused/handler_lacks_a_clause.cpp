// SPDX-License-Identifier: MIT

/// Refused:
///   weft: the handler has no public clause for this operation: on(operation), or on(operation,
///   resumption<result, answer>)
/// Naming: forgetful
/// Naming: print_line

#include "weft/effects/effects.hpp"
#include "weft/sched/schedule.hpp"

struct forgetful {
  void on(weft::console::print const&) {}
};

weft::eff<void, weft::console> hello() { co_await weft::console::print{"hello"}; }

int main() { weft::schedule(hello, forgetful()); }
