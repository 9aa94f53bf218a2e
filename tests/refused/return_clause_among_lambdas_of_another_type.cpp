// SPDX-License-Identifier: MIT

/// Refused:
///   weft: the handler's on_return does not take what the body computes
/// Naming: weft::clauses<

#include <string>

#include "weft/effects/effects.hpp"

struct dice {
  struct roll : weft::op<int> {};
  using operations = weft::op_list<roll>;
};

weft::eff<int, dice> plays() { co_return co_await dice::roll{}; }

int main() {
  return weft::run(
      weft::handle<dice>(weft::clauses{[](dice::roll) { return 6; },
                                       weft::returns{[](std::string const& s) { return s + "!"; }}},
                         plays()));
}
