// SPDX-License-Identifier: MIT

/// Refused:
///   weft: the function of off_thread returns a value: a reference would be shared with the other thread
/// Naming: (*)()

#include "weft/io/blocking.hpp"
#include "weft/sched/schedule.hpp"

int& counter() {
  static int n = 0;
  return n;
}
weft::eff<void, weft::blocking_work> reads() { co_await weft::off_thread(&counter); }

int main() { weft::schedule(reads, weft::blocking_at_once()); }
