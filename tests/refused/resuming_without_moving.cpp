// SPDX-License-Identifier: MIT

/// Refused:
///   weft: a resumption is used once: write std::move(k)(v)
/// Naming: resumption<int, int>

#include "weft/effects/effects.hpp"

struct dice {
  struct roll : weft::op<int> {};
  using operations = weft::op_list<roll>;
};
struct loaded {
  weft::eff<int> on(dice::roll, weft::resumption<int, int> k) {
    int const score = co_await k(6);
    co_return score;
  }
};

weft::eff<int, dice> plays() { co_return co_await dice::roll{}; }

int main() { return weft::run(weft::handle<dice>(loaded(), plays())); }
