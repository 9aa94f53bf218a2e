// SPDX-License-Identifier: MIT

/// Refused:
///   weft: g++ 12 destroys this operation twice: give it a constructor (docs/portability.md)
/// Naming: paper::write

#include <string>

#include "weft/effects/effects.hpp"

struct paper {
  struct write : weft::op<void> {
    std::string text;
  };
  using operations = weft::op_list<write>;
};

weft::eff<void, paper> writes() { co_await paper::write{{}, "x"}; }

int main() { auto const e = writes(); }
