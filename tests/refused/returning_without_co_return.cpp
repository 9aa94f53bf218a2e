// SPDX-License-Identifier: MIT

/// Refused by a deleted function:
///   weft: a coroutine makes its eff: write co_return, not return
/// Naming: eff<int, weft::proc>

#include "weft/effects/effects.hpp"

weft::eff<int, weft::proc> three() { return 3; }

int main() { auto const e = three(); }
