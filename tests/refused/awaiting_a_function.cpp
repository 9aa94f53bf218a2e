// SPDX-License-Identifier: MIT

/// Refused:
///   weft: an awaited expression must be an operation, or a computation that is called here or moved:
///   std::move(e)
/// Naming: eff<void> (&)()

#include "weft/effects/effects.hpp"

weft::eff<void> child() { co_return; }
weft::eff<void> waits() { co_await child; }

int main() { auto const e = waits(); }
