// SPDX-License-Identifier: MIT

/// Refused:
///   weft: this is not an effect: an effect lists its operations, each once, in `using operations =
///   op_list<...>`
/// Naming: tagged<width, int>

#include "weft/effects/effects.hpp"

struct width;
weft::eff<void, weft::tagged<width, int>> measures() { co_return; }

int main() { auto const e = measures(); }
