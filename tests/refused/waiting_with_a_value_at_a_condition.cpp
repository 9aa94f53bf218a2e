// SPDX-License-Identifier: MIT
#include "sched/condition.hpp"
#include "sched/schedule.hpp"

using weft::syncing;

weft::eff<void, syncing> program() {
  weft::mutex m;
  weft::condition c;
  auto held = co_await m.lock();
  co_await c.wait(held, 7);
}

int main() { weft::schedule(program); }
