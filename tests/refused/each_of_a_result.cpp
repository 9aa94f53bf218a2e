// SPDX-License-Identifier: MIT

/// Refused:
///   weft: each takes a function that returns an eff<void, emit<T>>, and its arguments: not its
///   result; a reference goes as std::ref(x)
/// Naming: eff<void

#include "weft/effects/effects.hpp"

weft::eff<void, weft::emit<int>> one() { co_await weft::emit<int>::value{1}; }

int main() {
  int sum = 0;
  for (int const n : weft::each(one())) sum += n;
  return sum;
}
