// SPDX-License-Identifier: MIT

/// Refused:
///   weft: a step in a coroutine whose row has no durable::steps<...>: name it in eff<...>, with the
///   effects that the step's function may perform

#include "weft/durable/process.hpp"
#include "weft/effects/effects.hpp"

namespace durable = weft::durable;

int one() { return 1; }
weft::eff<int, weft::console> process() { co_return co_await durable::step("one", one); }

int main() { (void)process; }
