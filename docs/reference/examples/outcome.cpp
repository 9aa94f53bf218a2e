// SPDX-License-Identifier: MIT
// A control clause that ends with a value, or with a jump to its continuation.
#include <iostream>
#include <utility>

#include <weft/effects/effects.hpp>
using namespace weft;

struct limit {
  struct [[nodiscard]] spend : op<int> {
    explicit spend(int n) : amount(n) {}
    int amount;
  };
  using operations = op_list<spend>;
};

struct budget : handler<limit> {
  explicit budget(int n) : left(n) {}
  int left;
  outcome<int> on(limit::spend s, resumption<int, int> k) {
    if (s.amount > left) return -1;  // drops the rest of the body
    left -= s.amount;
    return std::move(k).last(left);  // a jump: no native stack, however often
  }
};

eff<int, limit> shop(int times) {
  int left = 0;
  for (int i = 0; i != times; ++i) left = co_await limit::spend(1);
  co_return left;
}

int main() {
  std::cout << run(handle(budget(100'000), shop(99'999))) << '\n';
  std::cout << run(handle(budget(10), shop(11))) << '\n';
}
