// SPDX-License-Identifier: MIT

/// Refused:
///   weft: parallel_reduce takes plain functions: one that combines two values of the type of the first, and one that maps each element to such a value
/// Naming: appending_number

#include <string>
#include <vector>

#include "weft/sched/schedule.hpp"
#include "weft/sched/tasks/parallel.hpp"

struct appending_number {
  std::string operator()(std::string s, int n) const { return s + std::to_string(n); }
};

weft::eff<void, weft::tasking<>> text() {
  std::vector<int> numbers(100);
  std::string const all =
      co_await weft::parallel_reduce(numbers, std::string(), appending_number());
}

int main() { weft::schedule(text); }
