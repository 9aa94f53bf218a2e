// SPDX-License-Identifier: MIT

/// Refused:
///   weft: this operation is outside the row of the coroutine that performs it: name in eff<...>
///   the effect that lists it
/// Naming: dice::shake

#include "weft/effects/effects.hpp"

struct dice {
  struct roll : weft::op<int> {};
  struct shake : weft::op<void> {};
  using operations = weft::op_list<roll>;
};

weft::eff<int, dice> plays() {
  co_await dice::shake{};
  co_return co_await dice::roll{};
}

int main() { auto const e = plays(); }
