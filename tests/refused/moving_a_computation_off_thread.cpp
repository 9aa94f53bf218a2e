// SPDX-License-Identifier: MIT

/// Refused:
///   weft: off_thread runs plain code: a computation is run by its scheduler, on the threads of
///   that; co_await it, or spawn it
/// Naming: eff<void

#include "weft/io/blocking.hpp"
#include "weft/sched/schedule.hpp"

using weft::proc;

weft::eff<void, proc> computes() { co_await proc::yield{}; }
weft::eff<void, weft::blocking_work> reads() { co_await weft::off_thread(&computes); }

int main() { weft::schedule(reads, weft::blocking_at_once()); }
