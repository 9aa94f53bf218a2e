// SPDX-License-Identifier: MIT
#include <vector>

#include "sched/parallel.hpp"
#include "sched/schedule.hpp"

weft::eff<void, weft::tasking<>> sets() {
  std::vector<bool> all(100);
  co_await weft::parallel_for(all, [](auto&& bit) { bit = true; });
}

int main() { weft::schedule(sets); }
