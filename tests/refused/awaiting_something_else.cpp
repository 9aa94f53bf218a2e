// SPDX-License-Identifier: MIT

/// Refused:
///   weft: an awaited expression must be an operation, or a computation that is called here or moved:
///   std::move(e)
/// Naming: int

#include "weft/effects/effects.hpp"

weft::eff<void> waits() { co_await 5; }

int main() { auto const e = waits(); }
