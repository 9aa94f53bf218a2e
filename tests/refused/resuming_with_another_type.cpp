// SPDX-License-Identifier: MIT

/// Refused:
///   weft: an operation is resumed with a value of its result type, or raising{...}; one that is
///   answered with void, with nothing
/// Naming: int
/// Naming: std::

#include <string>

#include "weft/effects/effects.hpp"

struct dice {
  struct roll : weft::op<int> {};
  using operations = weft::op_list<roll>;
};
struct poet {
  weft::outcome<int> on(dice::roll, weft::resumption<int, int> k) {
    return std::move(k).last(std::string("six"));
  }
};

weft::eff<int, dice> plays() { co_return co_await dice::roll{}; }

int main() { return weft::run(weft::handle<dice>(poet(), plays())); }
