// SPDX-License-Identifier: MIT

/// Mistake: `send` without `co_await`

#include <weft/sched/schedule.hpp>

using namespace weft;

eff<void, mail> sends() {
  auto [in, to] = co_await open<int>();
  to.send(1);
  (void)co_await in.receive();
}
int main() { schedule(sends); }
