// SPDX-License-Identifier: MIT

/// Refused:
///   weft: with_scope takes a function of the scope that returns an eff: [](auto& s) -> eff<void,
///   tasking<>> { ...; co_return; }, or nothing: [](auto& s) { s.start(f); }
/// Naming: weft::scope<>

#include "weft/effects/effects.hpp"
#include "weft/sched/tasks/scope.hpp"

weft::eff<void, weft::tasking<>> program() {
  co_await weft::with_scope([](auto& s) {
    s.start([] {});
    return 1;
  });
}

int main() { auto const e = program(); }
