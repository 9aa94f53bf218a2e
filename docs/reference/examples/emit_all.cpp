// SPDX-License-Identifier: MIT
// emit_all: ranges as computations, and as one range again.
#include <iostream>
#include <ranges>
#include <vector>

#include <weft/adapters/ranges.hpp>
#include <weft/effects/effects.hpp>
using namespace weft;

eff<void, emit<int>> small_and_large() {
  co_await emit_all(std::views::iota(1, 4));
  co_await emit_all(std::vector{100, 200});
}

int main() {
  for (int const n : each(small_and_large)) std::cout << n << ' ';
  std::cout << '\n';
}
