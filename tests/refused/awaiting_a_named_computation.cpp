// SPDX-License-Identifier: MIT
#include "effects/effects.hpp"

weft::eff<void> child() { co_return; }
weft::eff<void> waits() {
  auto c = child();
  co_await c;
}

int main() { auto const e = waits(); }
