// SPDX-License-Identifier: MIT

/// Mistake: an operation in the row of a program of `schedule`

#include <weft/sched/schedule.hpp>

using namespace weft;

eff<void, proc::yield> lets_others_run() { co_await proc::yield{}; }
int main() { schedule(lets_others_run); }
