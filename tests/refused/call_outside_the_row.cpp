// SPDX-License-Identifier: MIT
#include "effects/effects.hpp"

weft::eff<int, weft::console> loud();
weft::eff<int, weft::proc> quiet() { co_return co_await loud(); }

int main() { auto const e = quiet(); }
