// SPDX-License-Identifier: MIT

/// Refused:
///   weft: a message is moved between processes: its type must move, and be destroyed, without throwing
/// Naming: fragile

#include "weft/sched/schedule.hpp"

using weft::mail;

/// Its move may throw.
struct fragile {
  fragile() = default;
  fragile(fragile&&) {}
};

weft::eff<void, mail> sends() {
  auto [in, to] = co_await weft::open<fragile>();
  co_await to.send(fragile());
}

int main() { weft::schedule(sends); }
