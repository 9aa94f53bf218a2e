// SPDX-License-Identifier: MIT

/// Refused:
///   weft: fork takes two functions without arguments that return an eff<void, ...>, not their
///   results
/// Naming: eff<void
/// Naming:

#include "weft/effects/effects.hpp"

weft::eff<void, weft::proc> child() { co_return; }
weft::eff<void, weft::proc> parent() { co_await weft::fork(child(), child()); }

int main() { auto const e = parent(); }
