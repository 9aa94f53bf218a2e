// SPDX-License-Identifier: MIT
// Weighted choices: the exact probability of each result.
#include <iostream>
#include <utility>
#include <vector>

#include <weft/effects/effects.hpp>
using namespace weft;

eff<bool, choose> test_is_positive() {
  bool const is_ill = co_await with_probability(0.01);
  std::vector<std::pair<bool, double>> const outcome{{true, is_ill ? 0.9 : 0.1},
                                                     {false, is_ill ? 0.1 : 0.9}};
  bool const is_positive = co_await one_of_weighted(outcome);
  co_await guard(is_positive);  // what follows is conditional on it
  co_return is_ill;
}
eff<std::size_t, choose> die() {
  std::size_t const i = co_await choose::among(6);
  co_return i / 3;
}

int main() {
  auto const results = run(handle(weighted_solutions(), [] { return test_is_positive(); }));
  for (auto const& [is_ill, p] : as_distribution(results))
    std::cout << (is_ill ? "ill: " : "well: ") << static_cast<int>(1000 * p) << " in 1000\n";
  for (auto const& [half, p] :
       as_distribution(run(handle(weighted_solutions(), [] { return die(); }))))
    std::cout << "half " << half << ": " << p << '\n';
}
