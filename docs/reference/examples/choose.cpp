// SPDX-License-Identifier: MIT
// choose: a search; the handler decides whether it wants all solutions or the first.
#include <iostream>
#include <ranges>
#include <utility>

#include <weft/effects/effects.hpp>
using namespace weft;

eff<std::pair<int, int>, choose> summands(int sum) {
  int const a = co_await one_of(std::views::iota(1, sum));
  int const b = co_await one_of(std::views::iota(a, sum));
  co_await guard(a + b == sum);
  co_return std::pair(a, b);
}
eff<int, choose> first_even() {
  int const n = co_await one_of(3, 5, 8, 10);
  if (n % 2 != 0) co_await choose::fail{};
  co_return n;
}

int main() {
  for (auto const& [a, b] : run(handle(all_solutions(), [] { return summands(5); })))
    std::cout << a << " + " << b << '\n';
  auto const found = run(handle(first_solution(), first_even));
  std::cout << "the first even number: " << *found << '\n';
}
