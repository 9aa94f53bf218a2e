// SPDX-License-Identifier: MIT
#include <string>

#include "effects/effects.hpp"

struct paper {
  struct write : weft::op<void> {
    std::string text;
  };
  using operations = weft::op_list<write>;
};

weft::eff<void, paper> writes() { co_await paper::write{{}, "x"}; }

int main() { auto const e = writes(); }
