// SPDX-License-Identifier: MIT

/// Refused:
///   weft: off_thread takes a function and its arguments, which are moved to another thread: a
///   reference goes as std::ref(x), and has to last
/// Naming: int

#include "weft/io/blocking.hpp"
#include "weft/sched/schedule.hpp"

int read_all(int file) { return file; }
weft::eff<void, weft::blocking_work> reads() { co_await weft::off_thread(read_all(1)); }

int main() { weft::schedule(reads, weft::blocking_at_once()); }
