// SPDX-License-Identifier: MIT

/// Mistake: a type that is no effect in the row

#include <weft/effects/effects.hpp>

using namespace weft;

eff<int, int> sum() { co_return 1; }
int main() { return run(sum()); }
