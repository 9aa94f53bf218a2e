// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <ranges>
#include <span>
#include <utility>

#include "bench/harness.hpp"
#include "bench/tasks_programs.hpp"
#include "weft/effects/effects.hpp"
#include "weft/sched/tasks/parallel.hpp"
#include "weft/sched/tasks/when_all.hpp"

/// The programs of `tasks`, with when_all and parallel_for.  The compiler does not know the called
/// functions, so it neither merges tasks nor elides frames.
namespace weft::bench::ours {

template <class T>
using task_of = eff<T, tasking<>>;

template <class Counting>
task_of<long> fib(long n) {
  Counting::task();
  if (n < 2) co_return n;
  auto const f = bench::launder(&fib<Counting>);
  auto const [a, b] = co_await when_all(f(n - 1), f(n - 2));
  co_return a + b;
}

template <class Counting>
task_of<std::uint64_t> skynet(std::uint64_t first, int levels) {
  Counting::task();
  if (levels == 0) co_return first;
  auto const f = bench::launder(&skynet<Counting>);
  std::uint64_t const below = leaves_below(levels - 1);
  auto const child = [=](std::uint64_t i) { return f(first + i * below, levels - 1); };
  std::array all{child(0), child(1), child(2), child(3), child(4),
                 child(5), child(6), child(7), child(8), child(9)};
  auto const found = co_await when_all(std::move(all));
  co_return std::accumulate(found.begin(), found.end(), std::uint64_t{0});
}

template <class Counting, std::size_t N>
task_of<int> nqueens(board<N> queens, std::size_t column) {
  Counting::task();
  if (column == N) co_return 1;
  auto const f = bench::launder(&nqueens<Counting, N>);
  auto const rows = rows_for(queens, column);
  if (rows.n == 0) co_return 0;
  auto const found = co_await when_all(rows.all() | std::views::transform([&](signed char row) {
                                         queens[column] = row;
                                         return f(queens, column + 1);
                                       }));
  co_return std::accumulate(found.begin(), found.end(), 0);
}

template <class Counting>
task_of<void> matmul(product p) {
  Counting::task();
  if (p.n <= small_matrix) {
    p.multiply();
    co_return;
  }
  auto const f = bench::launder(&matmul<Counting>);
  // Only one task at a time writes a block.
  for (int k = 0; k != 2; ++k)
    co_await when_all(f(p.part(0, 0, k)), f(p.part(0, 1, k)), f(p.part(1, 0, k)),
                      f(p.part(1, 1, k)));
}

inline task_of<void> step_each(std::span<std::uint64_t> xs) {
  co_await parallel_for(xs, [](std::uint64_t& x) { step(x); });
}

}  // namespace weft::bench::ours
