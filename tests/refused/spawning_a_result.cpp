// SPDX-License-Identifier: MIT
#include "sched/schedule.hpp"

using weft::proc;
using weft::spawning;

weft::eff<void, proc> child() { co_await proc::yield{}; }
weft::eff<void, spawning<proc>> parent() { co_await weft::spawn(child()); }

int main() { weft::schedule(parent); }
