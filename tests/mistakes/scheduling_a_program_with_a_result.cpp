// SPDX-License-Identifier: MIT

/// Mistake: a program of `schedule` that computes a value

#include <weft/sched/schedule.hpp>

using namespace weft;

eff<int, proc> program() {
  co_await proc::yield{};
  co_return 1;
}
int main() { schedule(program); }
