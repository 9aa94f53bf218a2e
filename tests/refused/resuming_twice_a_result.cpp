// SPDX-License-Identifier: MIT
#include "effects/effects.hpp"
#include "sched/scheduler.hpp"

weft::eff<void, weft::proc> twice() { co_await weft::proc::fork{}; }

int main() {
  weft::scheduler s;
  weft::run(weft::handle(s, twice()));
}
