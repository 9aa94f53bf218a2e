// SPDX-License-Identifier: MIT
#pragma once

#include <weft/effects/effects.hpp>

/// Counts a variable down from n to 0, and returns that 0.
///
/// The variable is an effect: a `get` and a `put` for each number, answered by the value clauses of
/// weft's handler `state_of`.  It measures the fast path: two operations that are answered where
/// they are performed, and nothing else.
namespace effect_suite::countdown {

using weft::eff;
using weft::state;

inline eff<int, state<int>> count_down() {
  for (;;) {
    int const i = co_await state<int>::get{};
    if (i == 0) co_return i;
    co_await state<int>::put(i - 1);
  }
}

inline int program(int n) { return run(handle(weft::state_of(n), count_down)); }

}  // namespace effect_suite::countdown
