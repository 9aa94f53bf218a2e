// SPDX-License-Identifier: MIT
#include "sched/schedule.hpp"
#include "sched/shielded.hpp"

using weft::mail;
using weft::proc;

weft::eff<void, proc> protects() {
  co_await weft::shielded([]() -> weft::eff<void, mail> { co_return; });
}

int main() { weft::schedule(protects); }
