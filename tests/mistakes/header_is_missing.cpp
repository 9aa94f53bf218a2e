// SPDX-License-Identifier: MIT

/// Mistake: a header that is not included
/// Own words: clang g++

#include <weft/sched/schedule.hpp>

using namespace weft;

eff<int, proc> one() { co_return 1; }
eff<void, tasking<proc>> sums() { co_await when_all(one(), one()); }
int main() { schedule(sums); }
