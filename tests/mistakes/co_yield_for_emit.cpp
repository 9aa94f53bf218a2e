// SPDX-License-Identifier: MIT

/// Mistake: `co_yield` for `co_await emit<T>::value`

#include <weft/effects/effects.hpp>

using namespace weft;

eff<void, emit<int>> numbers() {
  co_yield 1;
  co_yield 2;
}
int main() {
  int sum = 0;
  for (int const n : each(numbers)) sum += n;
  return sum;
}
