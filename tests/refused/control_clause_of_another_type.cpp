// SPDX-License-Identifier: MIT
#include <string>

#include "effects/effects.hpp"

struct dice {
  struct roll : weft::op<int> {};
  using operations = weft::op_list<roll>;
};
struct spoilsport {
  std::string on(dice::roll, weft::resumption<int, int>) { return "no more"; }
};

weft::eff<int, dice> plays() { co_return co_await dice::roll{}; }

int main() { return weft::run(weft::handle<dice>(spoilsport(), plays())); }
