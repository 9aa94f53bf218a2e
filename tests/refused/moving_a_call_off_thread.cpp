// SPDX-License-Identifier: MIT
#include "io/blocking.hpp"
#include "sched/schedule.hpp"

int read_all(int file) { return file; }
weft::eff<void, weft::blocking_work> reads() { co_await weft::off_thread(read_all(1)); }

int main() { weft::schedule(reads, weft::blocking_at_once()); }
