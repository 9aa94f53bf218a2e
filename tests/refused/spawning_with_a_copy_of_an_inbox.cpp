// SPDX-License-Identifier: MIT

/// Refused:
///   weft: an argument cannot be copied, only moved: pass std::move(x)
/// Naming: (takes, in)

#include "weft/effects/effects.hpp"
#include "weft/sched/mail/mail.hpp"
#include "weft/sched/schedule.hpp"

weft::eff<void, weft::mail> takes(weft::inbox<int> in) { (void)co_await in.receive(); }
weft::eff<void, weft::spawning<weft::mail>, weft::mail> program() {
  auto [in, to] = co_await weft::open<int>();
  co_await weft::spawn(takes, in);
}

int main() { auto const e = program(); }
