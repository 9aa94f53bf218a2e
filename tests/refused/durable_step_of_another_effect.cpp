// SPDX-License-Identifier: MIT

/// Refused:
///   weft: the step's function may perform an effect that durable::steps<...> of the coroutine that
///   awaits it does not name

#include "weft/durable/process.hpp"
#include "weft/effects/effects.hpp"

namespace durable = weft::durable;

weft::eff<void, weft::console> greet() { co_await weft::console::print_line{"hello"}; }
weft::eff<void, durable::all<>> process() { co_await durable::step("greet", greet); }

int main() { (void)process; }
