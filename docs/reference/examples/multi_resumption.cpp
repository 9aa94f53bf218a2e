// SPDX-License-Identifier: MIT
// A continuation that is resumed twice, by replay or bitwise; compared computes both ways.
#include <iostream>
#include <utility>
#include <vector>

#include <weft/effects/effects.hpp>
using namespace weft;

struct coin {
  struct [[nodiscard]] flip : op<bool> {};
  using operations = op_list<flip>;
};

struct both : handler<coin> {
  eff<std::vector<int>> on(coin::flip, multi_resumption<bool, std::vector<int>> k) const {
    std::vector<int> all = co_await k(true);
    for (int const n : co_await std::move(k)(false)) all.push_back(n);  // the last time
    co_return all;
  }
  std::vector<int> on_return(int n) const { return {n}; }
};

eff<int, coin> two_bits() {
  bool const a = co_await coin::flip{};
  bool const b = co_await coin::flip{};
  co_return 2 * a + b;
}

template <multi_shot_policy Policy>
void print(char const* name, Policy policy) {
  std::cout << name << ':';
  for (int const n : run(handle(both(), [] { return two_bits(); }, policy))) std::cout << ' ' << n;
  std::cout << '\n';
}

int main() {
  print("replay", replay());
  print("bitwise", bitwise());
  print("compared", compared());
}
