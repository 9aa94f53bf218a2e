// SPDX-License-Identifier: MIT

/// Refused:
///   weft: outer_of<E> takes an operation of E
/// Naming: console::print

#include "weft/effects/effects.hpp"

weft::eff<int, weft::state<int>> counts() {
  co_await weft::outer_of<weft::state<int>>(weft::console::print{"psst"});
  co_return 1;
}

int main() { auto const e = counts(); }
