// SPDX-License-Identifier: MIT

/// Refused:
///   weft: this operation is outside the row of the coroutine that performs it: name in eff<...>
///   the effect that lists it
/// Naming: weft::console::print

#include "weft/effects/effects.hpp"

weft::eff<void, weft::proc> quiet() { co_await weft::console::print{"psst"}; }

int main() { auto const e = quiet(); }
