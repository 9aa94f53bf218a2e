// SPDX-License-Identifier: MIT

/// Refused:
///   weft: a resumption is used once: write std::move(k).last(v)
/// Naming: resumption<int, int>

#include "weft/effects/effects.hpp"

weft::outcome<int> six(weft::resumption<int, int> k) { return k.last(6); }

int main() { auto const o = six({}); }
