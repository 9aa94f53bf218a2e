// SPDX-License-Identifier: MIT

/// Mistake: `run(f)` for `run(f())`

#include <weft/effects/effects.hpp>

using namespace weft;

eff<int> answer() { co_return 42; }
int main() { return run(answer); }
