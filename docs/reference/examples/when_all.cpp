// SPDX-License-Identifier: MIT
// Tasks that all run to their ends, and the first of several that has ended.
#include <array>
#include <iostream>
#include <ranges>
#include <string>
#include <vector>

#include <weft/effects/effects.hpp>
#include <weft/sched/schedule.hpp>
#include <weft/sched/tasks/when_all.hpp>
#include <weft/sched/tasks/when_any.hpp>
using namespace weft;

eff<long, tasking<>> fib(int n) {
  if (n < 2) co_return n;
  auto const [a, b] = co_await when_all(fib(n - 1), fib(n - 2));
  co_return a + b;
}
eff<int, yielding> takes(int turns) {
  for (int i = 0; i != turns; ++i) co_await yielding::yield{};
  co_return 10 * turns;
}

eff<void, tasking<yielding>, tasking<>, console> program() {
  long const f = co_await fib(10);
  auto const tens = co_await when_all(std::views::iota(1, 4) | std::views::transform(takes));
  auto const winner = co_await when_any(takes(5), takes(2));
  auto const [which, value] =
      co_await when_any(std::vector<int>{9, 4, 6} | std::views::transform(takes));
  std::string text = std::to_string(f);
  for (int const n : tens) text += " " + std::to_string(n);
  text += ", first: " + std::to_string(winner.index()) + ", " + std::to_string(which) + ": " +
          std::to_string(value);
  co_await console::print_line{text};
}

int main() { schedule(program, console_to_stream(std::cout)); }
