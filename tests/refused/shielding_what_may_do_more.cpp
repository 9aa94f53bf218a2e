// SPDX-License-Identifier: MIT

/// Refused:
///   weft: the shielded computation may perform an effect that is outside the row of the coroutine
///   that awaits it
/// Naming: shielded_body

#include "weft/sched/schedule.hpp"
#include "weft/sched/tasks/shielded.hpp"

using weft::mail;
using weft::proc;

weft::eff<void, proc> protects() {
  co_await weft::shielded([]() -> weft::eff<void, mail> { co_return; });
}

int main() { weft::schedule(protects); }
