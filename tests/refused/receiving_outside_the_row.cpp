// SPDX-License-Identifier: MIT

/// Refused:
///   weft: this operation is outside the row of the coroutine that performs it: name in eff<...>
///   the effect that lists it
/// Naming: weft::mail::receive

#include "weft/sched/schedule.hpp"

using weft::proc;

weft::eff<int, proc> receives(weft::inbox<int> in) { co_return co_await in.receive(); }

int main() { (void)&receives; }
