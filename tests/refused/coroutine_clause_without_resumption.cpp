// SPDX-License-Identifier: MIT

/// Refused:
///   weft: a clause that is a coroutine takes the resumption too: on(operation, resumption<result,
///   answer> k)
/// Naming: polite
/// Naming: weft::proc::yield

#include "weft/effects/effects.hpp"

struct polite {
  weft::eff<void, weft::console> on(weft::proc::yield) {
    co_await weft::console::print_line{"after you"};
  }
  bool on(weft::proc::fork) { return true; }
  void on(weft::proc::exit) {}
};

weft::eff<void, weft::proc> walks() { co_await weft::proc::yield{}; }
weft::eff<void, weft::console> door() { co_await weft::handle<weft::proc>(polite(), walks()); }

int main() { auto const e = door(); }
