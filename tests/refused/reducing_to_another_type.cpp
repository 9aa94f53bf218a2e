// SPDX-License-Identifier: MIT
#include <string>
#include <vector>

#include "sched/parallel.hpp"
#include "sched/schedule.hpp"

struct appending_number {
  std::string operator()(std::string s, int n) const { return s + std::to_string(n); }
};

weft::eff<void, weft::tasking<>> text() {
  std::vector<int> numbers(100);
  std::string const all =
      co_await weft::parallel_reduce(numbers, std::string(), appending_number());
}

int main() { weft::schedule(text); }
