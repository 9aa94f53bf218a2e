// SPDX-License-Identifier: MIT
#include "effects/effects.hpp"

int twice(int n) { return 2 * n; }

int main() {
  int sum = 0;
  for (int const n : weft::each(twice, 1)) sum += n;
  return sum;
}
