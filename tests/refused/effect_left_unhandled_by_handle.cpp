// SPDX-License-Identifier: MIT

/// Refused:
///   weft: the body may perform an effect that is neither handled here nor in the row around handle
/// Naming: weft::row<weft::console>

#include "weft/effects/effects.hpp"

weft::eff<int, weft::console, weft::state<int>> counts() {
  co_await weft::console::print_line{"counting"};
  co_return co_await weft::state<int>::get{};
}

int main() { return weft::run(weft::handle(weft::state_of(0), counts())); }
