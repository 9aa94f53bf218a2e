// SPDX-License-Identifier: MIT
#include "sched/commands.hpp"
#include "sched/schedule.hpp"

weft::eff<void, weft::completing> program() { co_await weft::issue(5); }

int main() { weft::schedule(program); }
