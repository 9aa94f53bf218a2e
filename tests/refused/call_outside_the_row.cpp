// SPDX-License-Identifier: MIT

/// Refused:
///   weft: the awaited computation may perform an effect that is outside the row of the coroutine
///   that awaits it
/// Naming: weft::row<weft::console>

#include "weft/effects/effects.hpp"

weft::eff<int, weft::console> loud();
weft::eff<int, weft::proc> quiet() { co_return co_await loud(); }

int main() { auto const e = quiet(); }
