// SPDX-License-Identifier: MIT
#include "effects/effects.hpp"
#include "sched/testing.hpp"

weft::eff<void, weft::proc> program(int&) { co_await weft::proc::yield{}; }

int main() {
  weft::explore([] { return 0; }, program, [](int const& n) { return n; });
}
