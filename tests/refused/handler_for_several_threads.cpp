// SPDX-License-Identifier: MIT
#include <iostream>

#include "effects/effects.hpp"
#include "sched/schedule.hpp"

using weft::console;

weft::eff<void, console> program() { co_await console::print{"x"}; }

int main() { weft::schedule<weft::sharing>(program, weft::console_to_stream(std::cout)); }
