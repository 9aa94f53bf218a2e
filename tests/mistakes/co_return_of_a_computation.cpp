// SPDX-License-Identifier: MIT

/// Mistake: `co_return` of a computation that is not awaited

#include <weft/effects/effects.hpp>

using namespace weft;

eff<int> answer() { co_return 42; }
eff<int> asks() { co_return answer(); }
int main() { return run(asks()); }
