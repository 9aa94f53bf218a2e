// SPDX-License-Identifier: MIT
#include <vector>

#include "effects/effects.hpp"

struct dice {
  struct roll : weft::op<int> {};
  using operations = weft::op_list<roll>;
};
struct every_way {
  void on(dice::roll, weft::multi_resumption<int> k) {
    for (int i = 1; i <= 6; ++i) resume(k, i);
  }
};

weft::eff<void, dice> plays() { co_await dice::roll{}; }

int main() {
  every_way h;
  weft::run(weft::handle<dice>(h, plays));
}
