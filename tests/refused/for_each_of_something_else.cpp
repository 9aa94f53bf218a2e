// SPDX-License-Identifier: MIT

/// Refused:
///   weft: for_each takes a function that can be called with each element, and returns an eff<void,
///   ...>
/// Naming: adding_to

#include <vector>

#include "weft/effects/effects.hpp"

struct adding_to {
  int& sum;
  void operator()(int n) const { sum += n; }
};

weft::eff<int> sums(std::vector<int> numbers) {
  int sum = 0;
  co_await weft::for_each(numbers, adding_to{sum});
  co_return sum;
}

int main() { return weft::run(sums({1, 2})); }
