// SPDX-License-Identifier: MIT
#include "sched/mutex.hpp"
#include "sched/schedule.hpp"

using weft::syncing;

int next(int n) { return n + 1; }
weft::eff<void, syncing> program() {
  weft::mutex m;
  co_await weft::with_lock(m, next(1));
}

int main() { weft::schedule(program); }
