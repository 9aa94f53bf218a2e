// SPDX-License-Identifier: MIT

/// Refused:
///   weft: this is an operation: name in its place the effect that lists it
/// Naming: dice::roll

#include "weft/effects/effects.hpp"

struct dice {
  struct roll : weft::op<int> {};
  using operations = weft::op_list<roll>;
};
struct loaded : weft::handler<dice::roll> {
  int on(dice::roll) { return 6; }
};

weft::eff<int, dice> plays() { co_return co_await dice::roll{}; }

int main() { return weft::run(weft::handle(loaded(), plays())); }
