// SPDX-License-Identifier: MIT
#include "effects/effects.hpp"

weft::eff<int> one() { co_return 1; }

int main() {
  auto e = one();
  return weft::run(e);
}
