// SPDX-License-Identifier: MIT

/// Refused:
///   weft: a clause takes its operation by value, or by const&
/// Naming: shouting
/// Naming: weft::console::print

#include "weft/effects/effects.hpp"

struct shouting {
  void on(weft::console::print& p) { p.text += '!'; }
  void on(weft::console::print_line const&) {}
};

weft::eff<void, weft::console> hello() { co_await weft::console::print{"hello"}; }

int main() { weft::run(weft::handle<weft::console>(shouting(), hello())); }
