// SPDX-License-Identifier: MIT

/// Refused:
///   weft: this operation is outside the row of the coroutine that performs it: name in eff<...>
///   the effect that lists it
/// Naming: weft::routing::send

#include "weft/sched/schedule.hpp"

using weft::mail;

weft::eff<void, mail> sends(weft::process_id to) { co_await weft::send(to, 1); }

int main() { (void)&sends; }
