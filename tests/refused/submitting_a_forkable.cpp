// SPDX-License-Identifier: MIT

/// Refused by a deleted function:
///   weft: a submitted process cannot fork: submit(f, args...) one that does spawn(forkable, g)
/// Naming: weft::forkable_t

#include "weft/effects/effects.hpp"
#include "weft/sched/schedule.hpp"

using weft::proc;

weft::eff<void, proc> program() { co_return; }

int main() {
  weft::scheduler<> s;
  s.start(program);
  s.submitter<proc>().submit(weft::forkable, program);
}
