// SPDX-License-Identifier: MIT

/// Refused:
///   weft: an argument is converted to a temporary, to which the coroutine would refer when it is
///   gone: take the parameter by value
/// Naming: (greets, "Ann")

#include <string>

#include "weft/effects/effects.hpp"
#include "weft/sched/schedule.hpp"

weft::eff<void, weft::console> greets(std::string const& name) {
  co_await weft::console::print_line(name);
}
weft::eff<void, weft::spawning<weft::console>> program() { co_await weft::spawn(greets, "Ann"); }

int main() { auto const e = program(); }
