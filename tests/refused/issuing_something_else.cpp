// SPDX-License-Identifier: MIT

/// Refused:
///   weft: this is not a command: a command is a struct derived from command<result>
/// Naming: int

#include "weft/sched/commands/commands.hpp"
#include "weft/sched/schedule.hpp"

weft::eff<void, weft::completions> program() { co_await weft::issue(5); }

int main() { weft::schedule(program); }
