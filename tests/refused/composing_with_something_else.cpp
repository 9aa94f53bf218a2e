// SPDX-License-Identifier: MIT

/// Refused:
///   weft: handlers that are composed say what they handle: with<E>(handler), or derive the handler
///   from handler<E>
/// Naming: loaded

#include "weft/effects/effects.hpp"

struct dice {
  struct roll : weft::op<int> {};
  using operations = weft::op_list<roll>;
};
struct loaded {
  int on(dice::roll) { return 6; }
};

weft::eff<int, dice, weft::state<int>> plays() { co_return co_await dice::roll{}; }

int main() { return weft::run(weft::handle(loaded() | weft::state_of(0), plays())); }
