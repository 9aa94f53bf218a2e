// SPDX-License-Identifier: MIT

/// Refused:
///   weft: an awaited expression must be an operation, or a computation that is called here or moved:
///   std::move(e)
/// Naming: handling<weft::state_of<int>

#include "weft/effects/effects.hpp"

weft::eff<int, weft::state<int>> counts() { co_return co_await weft::state<int>::get{}; }
weft::eff<int> counted() {
  auto h = weft::handle(weft::state_of(0), counts());
  co_return co_await h;
}

int main() { return weft::run(counted()); }
