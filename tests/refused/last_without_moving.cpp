// SPDX-License-Identifier: MIT
#include "effects/effects.hpp"

weft::outcome<int> six(weft::resumption<int, int> k) { return k.last(6); }

int main() { auto const o = six({}); }
