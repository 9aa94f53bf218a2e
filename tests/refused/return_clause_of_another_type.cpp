// SPDX-License-Identifier: MIT

/// Refused:
///   weft: the handler's on_return does not take what the body computes
/// Naming: loud

#include <string>

#include "weft/effects/effects.hpp"

struct dice {
  struct roll : weft::op<int> {};
  using operations = weft::op_list<roll>;
};
struct loud {
  int on(dice::roll) { return 6; }
  std::string on_return(std::string s) { return s + "!"; }
};

weft::eff<int, dice> plays() { co_return co_await dice::roll{}; }

int main() { [[maybe_unused]] auto const s = weft::run(weft::handle<dice>(loud(), plays())); }
