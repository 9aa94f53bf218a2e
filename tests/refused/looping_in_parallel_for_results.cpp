// SPDX-License-Identifier: MIT

/// Refused:
///   weft: parallel_for takes a function that can be called with each element, and returns an
///   eff<void, ...> if its result is to be awaited
/// Naming: squaring

#include <vector>

#include "weft/sched/schedule.hpp"
#include "weft/sched/tasks/parallel.hpp"

struct squaring {
  weft::eff<int> operator()(int n) const { co_return n* n; }
};

weft::eff<void, weft::tasking<>> squares() {
  std::vector<int> numbers(100);
  co_await weft::parallel_for(numbers, squaring());
}

int main() { weft::schedule(squares); }
