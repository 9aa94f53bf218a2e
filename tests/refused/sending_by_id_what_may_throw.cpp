// SPDX-License-Identifier: MIT

/// Refused:
///   weft: a message is moved between processes: its type must move, and be destroyed, without throwing
/// Naming: fragile

#include "weft/sched/schedule.hpp"

using weft::routing;

/// Its move may throw.
struct fragile {
  fragile() = default;
  fragile(fragile&&) {}
};

weft::eff<void, routing> sends(weft::process_id to) { co_await weft::send(to, fragile()); }

int main() { (void)&sends; }
