// SPDX-License-Identifier: MIT

/// Refused:
///   weft: name the effects to be handled, handle<E>(h, body), or derive the handler from
///   handler<E>
/// Naming: loaded

#include "weft/effects/effects.hpp"

struct dice {
  struct roll : weft::op<int> {};
  using operations = weft::op_list<roll>;
};
struct loaded {
  int on(dice::roll) { return 6; }
};

weft::eff<int, dice> plays() { co_return co_await dice::roll{}; }
weft::eff<int> evening() { co_return co_await weft::handle(loaded(), plays()); }

int main() { return weft::run(evening()); }
