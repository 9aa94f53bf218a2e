// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "bench/harness.hpp"
#include "bench/tasks_programs.hpp"
#include "effects/effects.hpp"
#include "sched/when_all.hpp"

/// The programs of tasks, by when_all.  What is called is not known to the compiler, so that it
/// neither makes one task of two nor does away with a frame.
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
  auto const [a, b, c, d, e, g, h, i, j, k] =
      co_await when_all(child(0), child(1), child(2), child(3), child(4), child(5), child(6),
                        child(7), child(8), child(9));
  co_return a + b + c + d + e + g + h + i + j + k;
}

/// Several computations of one type, at most `N`, and what they give.
/// TO BE REPLACED by when_all of a range.
template <class T, std::size_t N>
class at_most {
 public:
  static constexpr bool finds_its_effect = true;

  at_most() = default;
  at_most(at_most const&) = delete;
  at_most& operator=(at_most const&) = delete;

  void add(task_of<T> c) {
    frames_[count_] = c.release();
    ++count_;
  }
  template <class Row>
  auto operation_in() {
    join_.emplace(tasks_.data(), static_cast<std::uint32_t>(count_));
    for (std::size_t i = 0; i != count_; ++i) {
      frames_[i].promise().to = &answers_[i];
      tasks_[i].prepare(*join_,
                        {frames_[i], &detail::row_info_of<typename task_of<T>::effects>::value});
    }
    return typename detail::tasking_in<Row>::type::wait(*join_);
  }
  T finish() {
    T sum{};
    for (std::size_t i = 0; i != count_; ++i) sum += answers_[i].take();
    return sum;
  }

 private:
  std::size_t count_ = 0;
  std::array<std::coroutine_handle<typename task_of<T>::promise_type>, N> frames_;
  std::array<detail::answer<T>, N> answers_;
  std::array<detail::task, N> tasks_;
  std::optional<detail::join> join_;
};

template <class Counting, std::size_t N>
task_of<int> nqueens(board<N> queens, std::size_t column) {
  Counting::task();
  if (column == N) co_return 1;
  auto const f = bench::launder(&nqueens<Counting, N>);
  auto const rows = rows_for(queens, column);
  if (rows.n == 0) co_return 0;
  at_most<int, N> all;
  for (std::size_t i = 0; i != rows.n; ++i) {
    queens[column] = rows.at[i];
    all.add(f(queens, column + 1));
  }
  co_return co_await std::move(all);
}

template <class Counting>
task_of<void> matmul(product p) {
  Counting::task();
  if (p.n <= small_matrix) {
    p.multiply();
    co_return;
  }
  auto const f = bench::launder(&matmul<Counting>);
  // What is written to is written to by one task at a time.
  for (int k = 0; k != 2; ++k)
    co_await when_all(f(p.part(0, 0, k)), f(p.part(0, 1, k)), f(p.part(1, 0, k)),
                      f(p.part(1, 1, k)));
}

/// TO BE REPLACED by parallel_for of sched/parallel.hpp.
inline task_of<void> step_each(std::span<std::uint64_t> xs, std::size_t grain) {
  if (xs.size() > grain) {
    std::size_t const half = xs.size() / 2;
    co_await when_all(step_each(xs.first(half), grain), step_each(xs.subspan(half), grain));
    co_return;
  }
  for (auto& x : xs) step(x);
}

}  // namespace weft::bench::ours
