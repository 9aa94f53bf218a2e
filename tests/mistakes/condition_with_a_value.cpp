// SPDX-License-Identifier: MIT

/// Mistake: a condition that waits for a value in place of a predicate

#include <weft/sched/schedule.hpp>
#include <weft/sched/sync/condition.hpp>
#include <weft/sched/sync/mutex.hpp>

using namespace weft;

eff<void, syncing> waits(mutex& m, condition& c, bool& is_ready) {
  auto held = co_await m.lock();
  co_await c.wait(held, is_ready);
}
int main() {
  mutex m;
  condition c;
  bool is_ready = true;
  schedule([&] { return waits(m, c, is_ready); });
}
