// SPDX-License-Identifier: MIT

/// Refused:
///   weft: handle takes a body: an eff that is called here or moved, or a function without
///   arguments that returns one
/// Naming: total

#include "weft/effects/effects.hpp"

struct total {
  int n;
};
total counts(int n) { return {n + 1}; }
weft::eff<int> counted() { co_return co_await weft::handle(weft::state_of(0), counts(1)); }

int main() { return weft::run(counted()); }
