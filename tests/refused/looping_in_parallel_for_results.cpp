// SPDX-License-Identifier: MIT
#include <vector>

#include "sched/parallel.hpp"
#include "sched/schedule.hpp"

struct squaring {
  weft::eff<int> operator()(int n) const { co_return n* n; }
};

weft::eff<void, weft::tasking<>> squares() {
  std::vector<int> numbers(100);
  co_await weft::parallel_for(numbers, squaring());
}

int main() { weft::schedule(squares); }
