// SPDX-License-Identifier: MIT

/// Refused:
///   weft: this operation is outside the row of the coroutine that performs it: name in eff<...>
///   the effect that lists it
/// Naming: weft::mail::send

#include "weft/sched/schedule.hpp"

using weft::proc;

weft::eff<void, proc> sends(weft::address<int> to) { co_await to.send(1); }

int main() { (void)&sends; }
