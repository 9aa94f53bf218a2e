// SPDX-License-Identifier: MIT

/// Refused:
///   weft: operations and computations give values: use a pointer for a reference
/// Naming: weft::emit<int

#include "weft/effects/effects.hpp"

weft::eff<void, weft::emit<int&>> emits(int n) { co_await weft::emit<int&>::value{n}; }

int main() { auto const e = emits(1); }
