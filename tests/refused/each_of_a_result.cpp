// SPDX-License-Identifier: MIT
#include "effects/effects.hpp"

weft::eff<void, weft::emit<int>> one() { co_await weft::emit<int>::value{1}; }

int main() {
  int sum = 0;
  for (int const n : weft::each(one())) sum += n;
  return sum;
}
