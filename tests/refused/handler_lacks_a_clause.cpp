// SPDX-License-Identifier: MIT
#include "effects/effects.hpp"
#include "sched/schedule.hpp"

struct forgetful {
  void on(weft::console::print const&) {}
};

weft::eff<void, weft::console> hello() { co_await weft::console::print{"hello"}; }

int main() { weft::schedule(hello, forgetful()); }
