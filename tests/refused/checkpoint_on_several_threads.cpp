// SPDX-License-Identifier: MIT

/// Refused:
///   weft: a checkpoint is taken on a backend whose worker returns the ready processes as a value,
///   worker.ready(): one_thread is one, those of several threads are not
/// Naming: weft::sharing

#include "weft/sched/schedule.hpp"
#include "weft/sched/sharing.hpp"

weft::eff<void, weft::proc> program() { co_return; }

int main() {
  weft::scheduler<weft::sharing> s;
  s.start(program);
  auto const here = s.checkpoint();
}
