// SPDX-License-Identifier: MIT

/// Mistake: `co_return` of another type

#include <weft/effects/effects.hpp>

using namespace weft;

eff<int> answer() { co_return "forty-two"; }
int main() { return run(answer()); }
