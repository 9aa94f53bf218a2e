// SPDX-License-Identifier: MIT

/// Refused:
///   weft: a region keeps resumptions, and cannot be inside another handler: trace the handlers that
///   its clauses perform to
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
  keeper k;
  weft::run(weft::handle(weft::traced(k, t), breathes()));
}
