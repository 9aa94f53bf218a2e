// SPDX-License-Identifier: MIT

/// Mistake: a handler in the place of the body, and the body in that of the handler

#include <weft/effects/effects.hpp>

using namespace weft;

eff<int, state<int>> gets() { co_return co_await state<int>::get{}; }
int main() { return run(handle(gets, state_of(0))); }
