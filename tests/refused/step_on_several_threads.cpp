// SPDX-License-Identifier: MIT

/// Refused:
///   weft: step() runs one process on the calling thread: on a backend of several threads there is
///   run() only
/// Naming: weft::sharing

#include "sched/schedule.hpp"
#include "sched/sharing.hpp"

weft::eff<void, weft::proc> program() { co_return; }

int main() {
  weft::scheduler<weft::sharing> s;
  s.start(program);
  s.step();
}
