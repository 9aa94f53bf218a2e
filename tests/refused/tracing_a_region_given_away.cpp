// SPDX-License-Identifier: MIT

/// Refused:
///   weft: a handler that keeps resumptions is borrowed: name it first; owned it would keep itself
///   alive
/// Naming: keeper

#include <utility>

#include "weft/effects/effects.hpp"
#include "weft/trace/traced_handler.hpp"

struct breath {
  struct now : weft::op<void> {};
  using operations = weft::op_list<now>;
};
struct keeper : weft::handler<breath>, weft::region {
  void on(breath::now, weft::resumption<void, void> k) { kept = std::move(k); }
  weft::resumption<void, void> kept;
};

weft::eff<void, breath> breathes() { co_await breath::now{}; }

int main() {
  weft::trace t;
  weft::run(weft::handle(weft::traced(keeper(), t), breathes()));
}
