// SPDX-License-Identifier: MIT

/// Refused:
///   weft: handle takes a body: an eff that is called here or moved, or a function without
///   arguments that returns one
/// Naming: eff<int, weft::state<int>

#include "weft/effects/effects.hpp"

weft::eff<int, weft::state<int>> counts() { co_return co_await weft::state<int>::get{}; }

int main() {
  auto e = counts();
  return weft::run(weft::handle(weft::state_of(0), e));
}
