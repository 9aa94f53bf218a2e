// SPDX-License-Identifier: MIT

/// Refused:
///   weft: the handler has clauses of two kinds for this operation: keep one
/// Naming: undecided
/// Naming: dice::roll

#include "weft/effects/effects.hpp"

struct dice {
  struct roll : weft::op<int> {};
  using operations = weft::op_list<roll>;
};
struct undecided {
  int on(dice::roll) { return 6; }
  weft::outcome<int> on(dice::roll, weft::resumption<int, int> k) { return std::move(k).last(1); }
};

weft::eff<int, dice> plays() { co_return co_await dice::roll{}; }

int main() { return weft::run(weft::handle<dice>(undecided(), plays())); }
