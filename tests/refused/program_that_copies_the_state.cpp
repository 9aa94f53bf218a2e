// SPDX-License-Identifier: MIT

/// Refused:
///   weft: the program takes a copy of the state, which the check does not see: take a world&

#include "weft/effects/effects.hpp"
#include "weft/testing/testing.hpp"

struct world {
  int n = 0;
};
weft::eff<void, weft::proc> program(world w) {
  co_await weft::proc::yield{};
  ++w.n;
}

int main() {
  weft::explore([] { return world(); }, program, [](world const& w) { return w.n == 1; });
}
