// SPDX-License-Identifier: MIT

/// Mistake: a handler without a clause for an operation

#include <weft/effects/effects.hpp>

using namespace weft;

struct fixed : handler<state<int>> {
  int on(state<int>::get) { return 42; }
};
eff<int, state<int>> gets() { co_return co_await state<int>::get{}; }
int main() { return run(handle(fixed(), gets)); }
