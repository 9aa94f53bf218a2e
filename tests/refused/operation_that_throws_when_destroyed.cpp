// SPDX-License-Identifier: MIT

/// Refused:
///   weft: neither an operation nor its answer may throw when it is destroyed
/// Naming: dice::roll

#include "weft/effects/effects.hpp"

struct dice {
  struct roll : weft::op<int> {
    explicit roll(int s) : sides(s) {}
    ~roll() noexcept(false) {}
    int sides;
  };
  using operations = weft::op_list<roll>;
};

weft::eff<int, dice> plays() { co_return co_await dice::roll{6}; }

int main() { auto const e = plays(); }
