// SPDX-License-Identifier: MIT

/// Mistake: a handler that is not made for threads

#include <iostream>

#include <weft/effects/effects.hpp>
#include <weft/sched/schedule.hpp>
#include <weft/sched/sharing.hpp>

using namespace weft;

eff<void, proc, console> greets() { co_await console::print_line("hello"); }
int main() { schedule<sharing>(greets, console_to_stream(std::cout)); }
