// SPDX-License-Identifier: MIT

/// Mistake: `schedule(f())` for `schedule(f)`

#include <weft/sched/schedule.hpp>

using namespace weft;

eff<void, proc> program() { co_await proc::yield{}; }
int main() { schedule(program()); }
