// SPDX-License-Identifier: MIT

/// Refused:
///   weft: the body may perform an effect that is neither handled here nor in the row around handle
/// Naming: weft::row<weft::console>

#include "weft/effects/effects.hpp"

struct dice {
  struct roll : weft::op<int> {};
  using operations = weft::op_list<roll>;
};
struct loaded : weft::handler<dice> {
  int on(dice::roll) { return 6; }
};

weft::eff<int, dice, weft::console> plays() {
  co_await weft::console::print_line{"six!"};
  co_return co_await dice::roll{};
}
weft::eff<int, weft::proc> evening() { co_return co_await weft::handle(loaded(), plays()); }

int main() { auto const e = evening(); }
