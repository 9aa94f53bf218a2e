// SPDX-License-Identifier: MIT

/// Refused:
///   weft: an argument cannot be copied, only moved: pass std::move(x)
/// Naming: (takes, in)

#include "weft/effects/effects.hpp"
#include "weft/sched/mail/mail.hpp"
#include "weft/sched/schedule.hpp"
#include "weft/sched/tasks/scope.hpp"

using working = weft::eff<void, weft::tasking<weft::mail>, weft::mail>;

weft::eff<void, weft::mail> takes(weft::inbox<int> in) { (void)co_await in.receive(); }
working program() {
  auto [in, to] = co_await weft::open<int>();
  co_await weft::with_scope([&](auto& s) -> working {
    s.start(takes, in);
    co_return;
  });
}

int main() { auto const e = program(); }
