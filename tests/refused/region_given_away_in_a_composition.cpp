// SPDX-License-Identifier: MIT

/// Refused:
///   weft: a handler that keeps resumptions is borrowed: name it first; owned it would keep itself
///   alive
/// Naming: parking

#include <iostream>

#include "weft/effects/effects.hpp"

struct parking : weft::handler<weft::proc>, weft::region {
  weft::resumption<void> waiting;
  void on(weft::proc::yield, weft::resumption<void> k) { waiting = std::move(k); }
  bool on(weft::proc::fork) { return true; }
  void on(weft::proc::exit, weft::resumption<weft::never>) {}
};

weft::eff<void, weft::proc, weft::state<int>, weft::console> works();

weft::eff<void> all() {
  co_await weft::handle(parking() | weft::state_of(0) | weft::console_to_stream(std::cout), works);
}

int main() { auto const e = all(); }
