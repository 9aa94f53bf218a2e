// SPDX-License-Identifier: MIT
#include "effects/effects.hpp"

weft::eff<int, weft::state<int>> counts() {
  co_await weft::outer_of<weft::state<int>>(weft::console::print{"psst"});
  co_return 1;
}

int main() { auto const e = counts(); }
