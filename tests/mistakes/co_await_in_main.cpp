// SPDX-License-Identifier: MIT

/// Mistake: `co_await` in `main`, or another ordinary function
/// Own words: clang g++

#include <weft/effects/effects.hpp>

using namespace weft;

eff<int> answer() { co_return 42; }
int asks() { return co_await answer(); }
int main() { return asks(); }
