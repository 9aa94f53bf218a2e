// SPDX-License-Identifier: MIT

/// Refused:
///   weft: a durable process may perform durable::steps<...>, durable::mail, durable::children,
///   durable::history and timing only: anything else would not be in its log, and would happen again
///   when it runs again.  Call it in a step, or handle it inside of the function

#include "weft/durable/engine.hpp"
#include "weft/durable/memory_store.hpp"
#include "weft/effects/effects.hpp"

namespace durable = weft::durable;

weft::eff<void, durable::steps<>, weft::console> prints() {
  co_await weft::console::print_line{"again and again"};
}

int main() {
  durable::memory_store store;
  durable::engine e(store, durable::function{"prints", 1, prints});
}
