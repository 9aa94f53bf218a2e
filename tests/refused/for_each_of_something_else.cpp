// SPDX-License-Identifier: MIT
#include <vector>

#include "effects/effects.hpp"

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
