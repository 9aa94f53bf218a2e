// SPDX-License-Identifier: MIT

/// Refused:
///   weft: a handler's on_return is a function, no coroutine
/// Naming: announcer

#include "weft/effects/effects.hpp"

struct dice {
  struct roll : weft::op<int> {};
  using operations = weft::op_list<roll>;
};
struct announcer {
  int on(dice::roll) { return 6; }
  weft::eff<void, weft::console> on_return(int) { co_await weft::console::print_line{"done"}; }
};

weft::eff<int, dice> plays() { co_return co_await dice::roll{}; }
weft::eff<void, weft::console> evening() { co_await weft::handle<dice>(announcer(), plays()); }

int main() { auto const e = evening(); }
