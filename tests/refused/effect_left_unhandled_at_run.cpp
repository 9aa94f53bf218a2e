// SPDX-License-Identifier: MIT
#include "effects/effects.hpp"

weft::eff<int, weft::console> hello() {
  co_await weft::console::print_line{"hello"};
  co_return 1;
}

int main() { return weft::run(hello()); }
