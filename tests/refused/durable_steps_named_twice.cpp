// SPDX-License-Identifier: MIT

/// Refused:
///   weft: a step in a coroutine whose row has two durable::steps<...>: keep one

#include "weft/durable/process.hpp"
#include "weft/effects/effects.hpp"

namespace durable = weft::durable;

int one() { return 1; }
weft::eff<int, durable::steps<>, durable::steps<weft::console>> process() {
  co_return co_await durable::step("one", one);
}

int main() { (void)process; }
