// SPDX-License-Identifier: MIT

/// Refused:
///   weft: each takes a function that returns an eff<void, emit<T>>, and its arguments: not its
///   result; a reference goes as std::ref(x)
/// Naming: int (*)(int)

#include "weft/effects/effects.hpp"

int twice(int n) { return 2 * n; }

int main() {
  int sum = 0;
  for (int const n : weft::each(twice, 1)) sum += n;
  return sum;
}
