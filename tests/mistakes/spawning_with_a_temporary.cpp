// SPDX-License-Identifier: MIT

/// Mistake: `spawn` of a function that would refer to a temporary

#include <string>

#include <weft/sched/schedule.hpp>

using namespace weft;

eff<void, proc> child(std::string const&) { co_await proc::yield{}; }
eff<void, spawning<proc>> parent() { co_await spawn(child, "Ann"); }
int main() { schedule(parent); }
