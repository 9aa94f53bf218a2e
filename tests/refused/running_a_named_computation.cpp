// SPDX-License-Identifier: MIT

/// Refused by a deleted function:
///   weft: a computation is taken once: call it here, or std::move(e)
/// Naming: eff<

#include "weft/effects/effects.hpp"

weft::eff<int> one() { co_return 1; }

int main() {
  auto e = one();
  return weft::run(e);
}
