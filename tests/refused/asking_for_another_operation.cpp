// SPDX-License-Identifier: MIT

/// Refused:
///   weft: this operation is not of one of the effects that the clause's outer<...> names
/// Naming: weft::proc::yield

#include "weft/effects/effects.hpp"

struct dice {
  struct roll : weft::op<int> {};
  using operations = weft::op_list<roll>;
};
struct slow {
  int on(dice::roll, weft::outer<weft::console> up) {
    up(weft::proc::yield{});
    return 6;
  }
};

weft::eff<int, dice> plays() { co_return co_await dice::roll{}; }
weft::eff<int, weft::console> evening() { co_return co_await weft::handle<dice>(slow(), plays()); }

int main() { auto const e = evening(); }
