// SPDX-License-Identifier: MIT

/// Refused:
///   weft: this is not an effect: an effect lists its operations, each once, in `using operations =
///   op_list<...>`
/// Naming: weft::proc::yield

#include "weft/effects/effects.hpp"

weft::eff<void, weft::proc::yield> confused() { co_return; }

int main() { auto const e = confused(); }
