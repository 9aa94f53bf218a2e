// SPDX-License-Identifier: MIT

/// Refused:
///   weft: the handler has no public clause for this operation: on(operation), or on(operation,
///   resumption<result, answer>)
/// Naming: loaded
/// Naming: dice::roll

#include "weft/effects/effects.hpp"

struct dice {
  struct roll : weft::op<int> {};
  using operations = weft::op_list<roll>;
};
class loaded {
  int on(dice::roll) { return 6; }
};

weft::eff<int, dice> plays() { co_return co_await dice::roll{}; }

int main() { return weft::run(weft::handle<dice>(loaded(), plays())); }
