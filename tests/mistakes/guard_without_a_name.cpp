// SPDX-License-Identifier: MIT

/// Mistake: a guard without a name
/// Silent: g++

#include <weft/sched/schedule.hpp>
#include <weft/sched/sync/mutex.hpp>

using namespace weft;

eff<void, syncing> adds(mutex& m, int& n) {
  co_await m.lock();
  ++n;
}
int main() {
  mutex m;
  int n = 0;
  schedule([&] { return adds(m, n); });
}
