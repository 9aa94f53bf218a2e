// SPDX-License-Identifier: MIT
// Loops over a range, done in pieces by several threads.
#include <functional>
#include <iostream>
#include <numeric>
#include <vector>

#include <weft/effects/effects.hpp>
#include <weft/sched/schedule.hpp>
#include <weft/sched/sharing.hpp>
#include <weft/sched/tasks/parallel.hpp>
using namespace weft;

eff<void, tasking<>> program(std::vector<int>& numbers) {
  co_await parallel_for(numbers, [](int& n) { n *= 2; });
  co_await parallel_for(numbers, [](int& n) { ++n; }, grain{.elements = 100});
  long const sum = co_await parallel_reduce(numbers, 0L, std::plus());
  long const odd = co_await parallel_reduce(numbers, 0L, std::plus(), [](int n) { return n % 2L; });
  std::cout << sum << ", " << odd << " are odd\n";
}

int main() {
  std::vector<int> numbers(1000);
  std::iota(numbers.begin(), numbers.end(), 0);
  schedule<sharing>({.threads = 2}, [&numbers] { return program(numbers); });
}
