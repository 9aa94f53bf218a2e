// SPDX-License-Identifier: MIT
#include "effects/effects.hpp"

weft::eff<void, weft::emit<int&>> emits(int n) { co_await weft::emit<int&>::value{n}; }

int main() { auto const e = emits(1); }
