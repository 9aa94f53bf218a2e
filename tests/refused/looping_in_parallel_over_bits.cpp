// SPDX-License-Identifier: MIT

/// Refused:
///   weft: the elements of a std::vector<bool> share words, which two threads may not write to at
///   once: use a vector of something else
/// Naming: vector<bool>

#include <vector>

#include "weft/sched/schedule.hpp"
#include "weft/sched/tasks/parallel.hpp"

weft::eff<void, weft::tasking<>> sets() {
  std::vector<bool> all(100);
  co_await weft::parallel_for(all, [](auto&& bit) { bit = true; });
}

int main() { weft::schedule(sets); }
