// SPDX-License-Identifier: MIT

/// Refused:
///   weft: what off_thread runs returns a value: a reference to what is on another thread would be
///   shared with it
/// Naming: (*)()

#include "io/blocking.hpp"
#include "sched/schedule.hpp"

int& counter() {
  static int n = 0;
  return n;
}
weft::eff<void, weft::blocking_work> reads() { co_await weft::off_thread(&counter); }

int main() { weft::schedule(reads, weft::blocking_at_once()); }
