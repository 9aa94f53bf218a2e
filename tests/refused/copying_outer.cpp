// SPDX-License-Identifier: MIT

/// Refused by a deleted function:
///   weft: an outer<...> is good for the clause it is given to
/// Naming: outer<

#include "weft/effects/effects.hpp"

struct dice {
  struct roll : weft::op<int> {};
  using operations = weft::op_list<roll>;
};

struct announcer {
  int on(dice::roll, weft::outer<weft::console> up) {
    auto const tell = [up] { up(weft::console::print_line{"six!"}); };
    tell();
    return 6;
  }
};

weft::eff<int, dice> plays() { co_return co_await dice::roll{}; }
weft::eff<int, weft::console> evening() {
  co_return co_await weft::handle<dice>(announcer(), plays());
}

int main() { auto const e = evening(); }
