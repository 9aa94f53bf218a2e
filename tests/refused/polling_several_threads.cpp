// SPDX-License-Identifier: MIT

/// Refused:
///   weft: poll() runs processes on the calling thread: on a backend of several threads there is
///   run() only
/// Naming: weft::sharing

#include "weft/sched/schedule.hpp"
#include "weft/sched/sharing.hpp"

weft::eff<void, weft::proc> program() { co_return; }

int main() {
  weft::scheduler<weft::sharing> s;
  s.start(program);
  (void)s.poll();
}
