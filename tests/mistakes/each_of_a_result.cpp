// SPDX-License-Identifier: MIT

/// Mistake: `each(f())` for `each(f)`

#include <weft/effects/effects.hpp>

using namespace weft;

eff<void, emit<int>> numbers() { co_await emit<int>::value{1}; }
int main() {
  int sum = 0;
  for (int const n : each(numbers())) sum += n;
  return sum;
}
