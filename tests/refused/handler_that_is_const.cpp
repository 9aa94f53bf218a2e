// SPDX-License-Identifier: MIT
#include "effects/effects.hpp"

weft::eff<int, weft::state<int>> counts() { co_return co_await weft::state<int>::get{}; }

int main() {
  weft::state_of const zero(0);
  return weft::run(weft::handle(zero, counts()));
}
