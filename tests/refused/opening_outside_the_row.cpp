// SPDX-License-Identifier: MIT

/// Refused:
///   weft: this operation is outside the row of the coroutine that performs it: name in eff<...>
///   the effect that lists it
/// Naming: weft::mail::open

#include "weft/sched/schedule.hpp"

using weft::proc;

weft::eff<void, proc> opens() { co_await weft::open<int>(); }

int main() { (void)&opens; }
