// SPDX-License-Identifier: MIT

/// Mistake: a call whose effects the row does not have

#include <iostream>

#include <weft/effects/effects.hpp>

using namespace weft;

eff<void, console> greets() { co_await console::print_line("hello"); }
eff<int> computes() {
  co_await greets();
  co_return 1;
}
int main() { return run(computes()); }
