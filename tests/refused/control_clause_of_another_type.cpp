// SPDX-License-Identifier: MIT

/// Refused:
///   weft: a control clause must return the handler's answer, or outcome<answer>, which
///   k.last(value) gives
/// Naming: spoilsport
/// Naming: dice::roll

#include <string>

#include "weft/effects/effects.hpp"

struct dice {
  struct roll : weft::op<int> {};
  using operations = weft::op_list<roll>;
};
struct spoilsport {
  std::string on(dice::roll, weft::resumption<int, int>) { return "no more"; }
};

weft::eff<int, dice> plays() { co_return co_await dice::roll{}; }

int main() { return weft::run(weft::handle<dice>(spoilsport(), plays())); }
