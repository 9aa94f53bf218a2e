// SPDX-License-Identifier: MIT
#include "effects/effects.hpp"

weft::eff<void, weft::console> says() { co_await weft::console::print{"x"}; }

int main() {
  int sum = 0;
  for (int const n : weft::each(says)) sum += n;
  return sum;
}
