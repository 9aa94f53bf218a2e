// SPDX-License-Identifier: MIT
#include "effects/effects.hpp"

struct dice {
  struct roll : weft::op<int> {};
  struct shake {};
  using operations = weft::op_list<roll, shake>;
};
struct loaded {
  int on(dice::roll) { return 6; }
};

weft::eff<int, dice> plays() { co_return co_await dice::roll{}; }

int main() { return weft::run(weft::handle<dice>(loaded(), plays())); }
