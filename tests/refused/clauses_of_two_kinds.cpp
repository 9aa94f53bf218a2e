// SPDX-License-Identifier: MIT

/// Refused:
///   weft: the handler has clauses of two kinds for this operation: keep one
/// Naming: undecided
/// Naming: dice::roll

#include "weft/effects/effects.hpp"

struct dice {
  struct roll : weft::op<int> {};
  using operations = weft::op_list<roll>;
};
struct undecided : weft::region {
  void on(dice::roll, weft::resumption<int> k) { weft::resume(std::move(k), 6); }
  void on(dice::roll, weft::multi_resumption<int> k) { resume(k, 6); }
};

weft::eff<void, dice> plays() { co_await dice::roll{}; }

int main() {
  undecided h;
  weft::run(weft::handle<dice>(h, plays));
}
