// SPDX-License-Identifier: MIT

/// Mistake: an operation without members and without `co_await`

#include <weft/sched/schedule.hpp>

using namespace weft;

eff<void, proc> lets_others_run() {
  proc::yield{};
  co_return;
}
int main() { schedule(lets_others_run); }
