// SPDX-License-Identifier: MIT
#include "sched/schedule.hpp"

weft::eff<void, weft::proc> program() { co_return; }

int main() {
  weft::scheduler<weft::sharing> s;
  s.start(program);
  s.step();
}
