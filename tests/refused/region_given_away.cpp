// SPDX-License-Identifier: MIT

/// Refused:
///   weft: a handler that keeps resumptions is borrowed: name it first; owned it would keep itself
///   alive
/// Naming: parking

#include <utility>

#include "weft/effects/effects.hpp"

struct parking : weft::handler<weft::state<int>>, weft::region {
  weft::resumption<int, int> waiting;
  int on(weft::state<int>::get, weft::resumption<int, int> k) {
    waiting = std::move(k);
    return 0;
  }
  void on(weft::state<int>::put) {}
};

weft::eff<int, weft::state<int>> asks() { co_return co_await weft::state<int>::get{}; }

int main() { return weft::run(weft::handle(parking(), asks)); }
