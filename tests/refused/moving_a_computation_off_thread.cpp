// SPDX-License-Identifier: MIT
#include "io/blocking.hpp"
#include "sched/schedule.hpp"

using weft::proc;

weft::eff<void, proc> computes() { co_await proc::yield{}; }
weft::eff<void, weft::blocking_work> reads() { co_await weft::off_thread(&computes); }

int main() { weft::schedule(reads, weft::blocking_at_once()); }
