// SPDX-License-Identifier: MIT

/// Refused:
///   weft: this is not an effect: an effect lists its operations, each once, in `using operations =
///   op_list<...>`
/// Naming: weft::state_of<int>

#include "weft/effects/effects.hpp"

weft::eff<int, weft::state<int>> counts() { co_return co_await weft::state<int>::get{}; }

int main() { return weft::run(weft::handle<weft::state_of<int>>(weft::state_of(0), counts())); }
