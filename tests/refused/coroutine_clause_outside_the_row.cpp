// SPDX-License-Identifier: MIT

/// Refused:
///   weft: a coroutine clause performs an effect that is not in the row around handle: add it
///   there, or handle it
/// Naming: announcer
/// Naming: weft::row<weft::console>

#include "weft/effects/effects.hpp"

struct dice {
  struct roll : weft::op<int> {};
  using operations = weft::op_list<roll>;
};
struct announcer {
  weft::eff<int, weft::console> on(dice::roll, weft::resumption<int, int> k) {
    co_await weft::console::print_line{"six!"};
    co_return co_await std::move(k)(6);
  }
};

weft::eff<int, dice> plays() { co_return co_await dice::roll{}; }
weft::eff<int, weft::proc> evening() {
  co_return co_await weft::handle<dice>(announcer(), plays());
}

int main() { auto const e = evening(); }
