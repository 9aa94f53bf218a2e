// SPDX-License-Identifier: MIT
#include "sched/schedule.hpp"
#include "sched/shared.hpp"

using weft::syncing;

weft::eff<void, syncing> program() {
  weft::shared<int> n(0);
  int const right = co_await n.wait_for(1);
  co_await n.set(right);
}

int main() { weft::schedule(program); }
