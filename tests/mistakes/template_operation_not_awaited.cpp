// SPDX-License-Identifier: MIT

/// Mistake: an operation of a template, without `co_await`

#include <weft/effects/effects.hpp>

using namespace weft;

eff<int, state<int>> counts() {
  state<int>::put{1};
  co_return co_await state<int>::get{};
}
int main() { return run(handle(state_of(0), counts)); }
