// SPDX-License-Identifier: MIT

/// Refused by a deleted function:
///   weft: the submitted process may perform an effect that the submitter<...> does not name
/// Naming: weft::console

#include "weft/effects/effects.hpp"
#include "weft/sched/schedule.hpp"

using weft::console;
using weft::proc;

weft::eff<void, proc, console> child() { co_await console::print{"hello"}; }
weft::eff<void, proc> program() { co_return; }

int main() {
  weft::scheduler<> s;
  s.start(program);
  s.submitter<proc>().submit(child);
}
