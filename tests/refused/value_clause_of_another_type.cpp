// SPDX-License-Identifier: MIT

/// Refused:
///   weft: the clause on(operation) returns a value that does not convert to the operation's result
/// Naming: poet
/// Naming: dice::roll

#include <string>

#include "weft/effects/effects.hpp"

struct dice {
  struct roll : weft::op<int> {};
  using operations = weft::op_list<roll>;
};
struct poet {
  std::string on(dice::roll) { return "six"; }
};

weft::eff<int, dice> plays() { co_return co_await dice::roll{}; }

int main() { return weft::run(weft::handle<dice>(poet(), plays())); }
