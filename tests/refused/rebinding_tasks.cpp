// SPDX-License-Identifier: MIT

/// Refused:
///   weft: the handler rebinds tasking: but tasks and scopes stay with the process that has started
///   them
/// Naming: loaded

#include <utility>

#include "weft/effects/effects.hpp"
#include "weft/sched/tasks/tasking.hpp"

struct dice {
  struct roll : weft::op<int> {};
  using operations = weft::op_list<roll>;
};
using tasks = weft::tasking<>;

struct loaded : weft::handler<dice>, weft::rebinds<tasks> {
  weft::eff<int, tasks> on(dice::roll, weft::resumption<int, int, tasks> k) {
    co_return co_await std::move(k).under(6);
  }
};
weft::eff<int, dice, tasks> plays() { co_return co_await dice::roll{}; }

weft::eff<int, tasks> cheats() { co_return co_await weft::handle(loaded(), plays()); }

int main() {}
