// SPDX-License-Identifier: MIT

/// Refused:
///   weft: processes on several threads use the handlers outside at once: this handler is not marked as thread safe: static constexpr bool thread_safe = true; or pass
///   synchronized(handler)
/// Naming: weft::console_to_stream

#include <iostream>

#include "weft/effects/effects.hpp"
#include "weft/sched/schedule.hpp"
#include "weft/sched/sharing.hpp"

using weft::console;

weft::eff<void, console> program() { co_await console::print{"x"}; }

int main() { weft::schedule<weft::sharing>(program, weft::console_to_stream(std::cout)); }
