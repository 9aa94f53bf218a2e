// SPDX-License-Identifier: MIT

/// Refused:
///   weft: the clause on(operation) returns a value that does not convert to the operation's result
/// Naming: dice::roll
/// Naming: poet

#include <string>

#include "weft/effects/effects.hpp"
#include "weft/sched/schedule.hpp"

struct dice {
  struct roll : weft::op<int> {};
  using operations = weft::op_list<roll>;
};
struct poet {
  std::string on(dice::roll) { return "six"; }
};

weft::eff<void, dice> plays() { co_await dice::roll{}; }

int main() { weft::schedule(plays, poet()); }
