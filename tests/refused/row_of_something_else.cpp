// SPDX-License-Identifier: MIT

/// Refused:
///   weft: this is not an effect: an effect lists its operations, each once, in `using operations =
///   op_list<...>`
/// Naming: seconds

#include "weft/effects/effects.hpp"

struct seconds {};
weft::eff<void, seconds> confused() { co_return; }

int main() { auto const e = confused(); }
