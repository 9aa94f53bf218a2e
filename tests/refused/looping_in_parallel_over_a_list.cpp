// SPDX-License-Identifier: MIT

/// Refused:
///   weft: parallel_for and parallel_reduce take a range with random access and a size
/// Naming: list<int

#include <list>

#include "weft/sched/schedule.hpp"
#include "weft/sched/tasks/parallel.hpp"

weft::eff<void, weft::tasking<>> increments() {
  std::list<int> numbers(100);
  co_await weft::parallel_for(numbers, [](int& n) { ++n; });
}

int main() { weft::schedule(increments); }
