// SPDX-License-Identifier: MIT
#include "effects/effects.hpp"

weft::eff<void, weft::proc> quiet() { co_await weft::console::print{"psst"}; }

int main() { auto const e = quiet(); }
