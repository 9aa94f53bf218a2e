// SPDX-License-Identifier: MIT

/// Refused:
///   weft: the handler is const, and its clause for this operation is not
/// Naming: weft::state_of<int>
/// Naming: weft::state<int>::put

#include "weft/effects/effects.hpp"

weft::eff<int, weft::state<int>> counts() { co_return co_await weft::state<int>::get{}; }

int main() {
  weft::state_of const zero(0);
  return weft::run(weft::handle(zero, counts()));
}
