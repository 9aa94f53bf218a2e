// SPDX-License-Identifier: MIT
#pragma once

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_invoke.h>
#include <tbb/task_group.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "bench/harness.hpp"
#include "bench/tasks_programs.hpp"

/// The programs of `tasks` as TBB's users write them.  The last child of a task runs in the waiting
/// thread, as in weft; not in matmul, which is written as in other published comparisons.
namespace weft::bench::tbbs {

template <class Counting>
long fib(long n) {
  Counting::task();
  if (n < 2) return n;
  auto const f = bench::launder(&fib<Counting>);
  long a = 0;
  long b = 0;
  tbb::parallel_invoke([&] { a = f(n - 1); }, [&] { b = f(n - 2); });
  return a + b;
}

template <class Counting>
std::uint64_t skynet(std::uint64_t first, int levels) {
  Counting::task();
  if (levels == 0) return first;
  auto const f = bench::launder(&skynet<Counting>);
  std::uint64_t const below = leaves_below(levels - 1);
  std::array<std::uint64_t, children> found;
  tbb::task_group group;
  auto const child = [=, &found](std::size_t i) {
    return [=, &found] { found[i] = f(first + i * below, levels - 1); };
  };
  for (std::size_t i = 0; i + 1 != children; ++i) group.run(child(i));
  group.run_and_wait(child(children - 1));
  std::uint64_t sum = 0;
  for (auto const x : found) sum += x;
  return sum;
}

template <class Counting, std::size_t N>
int nqueens(board<N> queens, std::size_t column) {
  Counting::task();
  if (column == N) return 1;
  auto const f = bench::launder(&nqueens<Counting, N>);
  auto const rows = rows_for(queens, column);
  if (rows.n == 0) return 0;
  std::array<int, N> found;
  tbb::task_group group;
  auto const child = [&](std::size_t i) {
    queens[column] = rows.at[i];
    return [queens, column, f, to = &found[i]] { *to = f(queens, column + 1); };
  };
  for (std::size_t i = 0; i + 1 != rows.n; ++i) group.run(child(i));
  group.run_and_wait(child(rows.n - 1));
  int sum = 0;
  for (std::size_t i = 0; i != rows.n; ++i) sum += found[i];
  return sum;
}

template <class Counting>
void matmul(product p) {
  Counting::task();
  if (p.n <= small_matrix) return p.multiply();
  auto const f = bench::launder(&matmul<Counting>);
  tbb::task_group group;
  for (int k = 0; k != 2; ++k) {
    for (int i = 0; i != 2; ++i)
      for (int j = 0; j != 2; ++j) group.run([=] { f(p.part(i, j, k)); });
    group.wait();
  }
}

inline void step_each(std::uint64_t* xs, std::size_t n) {
  tbb::parallel_for(tbb::blocked_range<std::uint64_t*>(xs, xs + n),
                    [](tbb::blocked_range<std::uint64_t*> const& piece) {
                      for (auto& x : piece) step(x);
                    });
}

}  // namespace weft::bench::tbbs
