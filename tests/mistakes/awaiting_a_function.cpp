// SPDX-License-Identifier: MIT

/// Mistake: a function that is not called

#include <weft/effects/effects.hpp>

using namespace weft;

eff<int> answer() { co_return 42; }
eff<int> asks() { co_return co_await answer; }
int main() { return run(asks()); }
