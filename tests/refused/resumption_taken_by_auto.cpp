// SPDX-License-Identifier: MIT

/// Refused:
///   weft: a clause takes its resumption by `auto`: write resumption<result, answer>
/// Naming: dice::roll

#include "weft/effects/effects.hpp"

struct dice {
  struct roll : weft::op<int> {};
  using operations = weft::op_list<roll>;
};

weft::eff<int, dice> plays() { co_return co_await dice::roll{}; }

int main() {
  return weft::run(weft::handle<dice>(
      weft::clauses{[](dice::roll, auto k) { return std::move(k).last(6); }}, plays()));
}
