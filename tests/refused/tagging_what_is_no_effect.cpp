// SPDX-License-Identifier: MIT
#include "effects/effects.hpp"

struct width;
weft::eff<void, weft::tagged<width, int>> measures() { co_return; }

int main() { auto const e = measures(); }
