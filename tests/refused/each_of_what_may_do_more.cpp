// SPDX-License-Identifier: MIT

/// Refused:
///   weft: the row of the function that each runs is one emit<T>: handle other effects inside it, or pull from a
///   handler of your own
/// Naming: weft::console

#include "weft/effects/effects.hpp"

weft::eff<void, weft::emit<int>, weft::console> emits_and_says() {
  co_await weft::emit<int>::value{1};
  co_await weft::console::print{"x"};
}

int main() {
  int sum = 0;
  for (int const n : weft::each(emits_and_says)) sum += n;
  return sum;
}
