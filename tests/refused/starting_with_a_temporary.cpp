// SPDX-License-Identifier: MIT

/// Refused:
///   weft: an argument is converted to a temporary, to which the coroutine would refer when it is
///   gone: take the parameter by value
/// Naming: (works, "Ann")

#include <string>

#include "weft/effects/effects.hpp"
#include "weft/sched/schedule.hpp"
#include "weft/sched/tasks/scope.hpp"

weft::eff<void> works(std::string const& name) { co_return; }
weft::eff<void, weft::tasking<>> program() {
  co_await weft::with_scope([](auto& s) -> weft::eff<void> {
    s.start(works, "Ann");
    co_return;
  });
}

int main() { auto const e = program(); }
