// SPDX-License-Identifier: MIT

/// Refused:
///   weft: an effect is left unhandled at run: handle<E>(handler, body) it first
/// Naming: weft::row<weft::console>

#include "weft/effects/effects.hpp"

weft::eff<int, weft::console> hello() {
  co_await weft::console::print_line{"hello"};
  co_return 1;
}

int main() { return weft::run(hello()); }
