// SPDX-License-Identifier: MIT

/// Refused:
///   weft: a clause asks outward for an effect that is not in the row around handle: add it there,
///   or handle it
/// Naming: weft::row<weft::console>

#include "weft/effects/effects.hpp"

struct dice {
  struct roll : weft::op<int> {};
  using operations = weft::op_list<roll>;
};
struct announcer {
  int on(dice::roll, weft::outer<weft::console> up) {
    up(weft::console::print_line{"six!"});
    return 6;
  }
};

weft::eff<int, dice> plays() { co_return co_await dice::roll{}; }

int main() { return weft::run(weft::handle<dice>(announcer(), plays())); }
