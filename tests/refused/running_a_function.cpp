// SPDX-License-Identifier: MIT

/// Refused:
///   weft: run takes a computation that is called here or moved: run(f()), or
///   run(handle<E>(handler, body))
/// Naming: eff<int> (&)()

#include "weft/effects/effects.hpp"

weft::eff<int> one() { co_return 1; }

int main() { return weft::run(one); }
