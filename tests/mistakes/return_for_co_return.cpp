// SPDX-License-Identifier: MIT

/// Mistake: `return` for `co_return`

#include <weft/effects/effects.hpp>

using namespace weft;

eff<int> answer() { return 42; }
int main() { return run(answer()); }
