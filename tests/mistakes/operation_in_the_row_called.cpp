// SPDX-License-Identifier: MIT

/// Mistake: an operation in the row of a computation that is awaited

#include <weft/effects/effects.hpp>
#include <weft/sched/schedule.hpp>

using namespace weft;

eff<int, state<int>::get> value() { co_return co_await state<int>::get{}; }
eff<void, proc, state<int>> program() {
  int const n = co_await value();
  co_await state<int>::put{n + 1};
}
int main() {
  int n = 0;
  schedule(program, state_in(n));
}
