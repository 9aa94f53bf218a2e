// SPDX-License-Identifier: MIT

/// Mistake: `fork(f(), g())` for `fork(f, g)`

#include <weft/effects/effects.hpp>
#include <weft/sched/schedule.hpp>

using namespace weft;

eff<void, proc> left() { co_await proc::yield{}; }
eff<void, proc> program() { co_await fork(left(), left()); }
int main() { schedule(program); }
