// SPDX-License-Identifier: MIT
#include "sched/schedule.hpp"

weft::eff<void, weft::proc> child() { co_await weft::proc::yield{}; }
weft::eff<void, weft::proc> parent() { co_await weft::spawn(child); }

int main() { weft::schedule(parent); }
