// SPDX-License-Identifier: MIT

/// Refused:
///   weft: a message goes from hand to hand: it has to be a value that moves, and is destroyed,
///   without throwing
/// Naming: fragile

#include "sched/schedule.hpp"

using weft::routing;

/// Its move may throw.
struct fragile {
  fragile() = default;
  fragile(fragile&&) {}
};

weft::eff<void, routing> sends(weft::process_id to) { co_await weft::send(to, fragile()); }

int main() { (void)&sends; }
