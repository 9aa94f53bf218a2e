// SPDX-License-Identifier: MIT
#include <memory>
#include <utility>

#include "sched/schedule.hpp"

using weft::proc;
using weft::spawning;

weft::eff<void, proc> child(int) { co_await proc::yield{}; }
weft::eff<void, spawning<proc>> parent() { co_await weft::spawn(weft::forkable, child); }

int main() { weft::schedule(parent); }
