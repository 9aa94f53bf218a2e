// SPDX-License-Identifier: MIT
#include <list>

#include "sched/parallel.hpp"
#include "sched/schedule.hpp"

weft::eff<void, weft::tasking<>> increments() {
  std::list<int> numbers(100);
  co_await weft::parallel_for(numbers, [](int& n) { ++n; });
}

int main() { weft::schedule(increments); }
