// SPDX-License-Identifier: MIT
#include "sched/schedule.hpp"
#include "sched/shared.hpp"

using weft::syncing;

weft::eff<void, syncing> program() {
  weft::shared<int> n(0);
  co_await n.update(1);
}

int main() { weft::schedule(program); }
