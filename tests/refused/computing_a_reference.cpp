// SPDX-License-Identifier: MIT

/// Refused:
///   weft: operations and computations give values: use a pointer for a reference
/// Naming: eff<int

#include "weft/effects/effects.hpp"

int book = 1;
weft::eff<int&> finds() { co_return book; }
weft::eff<int> reads() {
  int const& found = co_await finds();
  co_return found;
}

int main() { return weft::run(reads()); }
