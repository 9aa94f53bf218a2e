// SPDX-License-Identifier: MIT
#include "effects/effects.hpp"
#include "sched/schedule.hpp"

using weft::proc;

weft::eff<void, proc> program() { co_return; }

int main() {
  weft::scheduler<> s;
  s.start(program);
  s.submitter<proc>().submit(weft::forkable, program);
}
