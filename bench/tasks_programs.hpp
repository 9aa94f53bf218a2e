// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "bench/harness.hpp"
#include "bench/threads.hpp"

/// The parts that the programs of `tasks` share on both sides: the work of one task, and the sizes.
namespace weft::bench {

/// Called by each task.  Timed runs use `uncounted`.
struct uncounted {
  static void task() {}
};
struct counted {
  [[gnu::noinline]] static void task() {
    static thread_local count here;
    here.add();
  }
};

/// Inputs.  The small ones also warm up the threads.
struct sizes {
  long fib;
  int skynet;  // levels below the root
  int matrix;
  std::size_t elements;
};
inline constexpr sizes full_sizes{35, 6, 1024, 10'000'000};
inline constexpr sizes small_sizes{22, 4, 128, 100'000};
inline constexpr std::size_t full_board = 13;
inline constexpr std::size_t small_board = 8;

// ---- skynet

inline constexpr std::size_t children = 10;
/// How many leaves are below a node.
inline std::uint64_t leaves_below(int levels) {
  std::uint64_t n = 1;
  for (int i = 0; i != levels; ++i) n *= children;
  return n;
}

// ---- nqueens

/// The row of the queen in each column.
template <std::size_t N>
using board = std::array<signed char, N>;

/// The rows in which a queen may stand.
template <std::size_t N>
struct safe_rows {
  std::array<signed char, N> at;
  std::size_t n = 0;
  [[nodiscard]] std::span<signed char const> all() const { return {at.data(), n}; }
};
/// For the next column.  The same function on both sides.
template <std::size_t N>
[[gnu::noinline]] safe_rows<N> rows_for(board<N> const& queens, std::size_t column) {
  auto const is_safe = [&](int row) {
    for (std::size_t c = 0; c != column; ++c) {
      int const distance = static_cast<int>(column - c);
      int const other = queens[c];
      if (row == other || row == other - distance || row == other + distance) return false;
    }
    return true;
  };
  safe_rows<N> rows;
  for (int row = 0; row != static_cast<int>(N); ++row)
    if (is_safe(row)) rows.at[rows.n++] = static_cast<signed char>(row);
  return rows;
}

// ---- matmul

inline constexpr int small_matrix = 32;

/// A block of three matrices with `stride` columns, at one level of the recursion.
struct product {
  int const* a;
  int const* b;
  int* c;
  int n;
  int stride;

  /// The product of the (i, k) quarter of a and the (k, j) quarter of b, added to that of c.
  [[nodiscard]] product part(int i, int j, int k) const {
    int const h = n / 2;
    return {a + (i * stride + k) * h, b + (k * stride + j) * h, c + (i * stride + j) * h, h,
            stride};
  }
  /// The same function on both sides.
  [[gnu::noinline]] void multiply() const {
    for (int i = 0; i != n; ++i)
      for (int k = 0; k != n; ++k)
        for (int j = 0; j != n; ++j) c[i * stride + j] += a[i * stride + k] * b[k * stride + j];
  }
};

class matrices {
 public:
  explicit matrices(int n) : n_(n), a_(square()), b_(square()), c_(square()) {
    std::iota(a_.begin(), a_.end(), 1);
    std::iota(b_.begin(), b_.end(), 7);
    for (auto& x : a_) x %= 10;
    for (auto& x : b_) x %= 9;
  }
  product all() { return {a_.data(), b_.data(), c_.data(), n_, n_}; }
  [[nodiscard]] std::uint64_t answer() const {
    std::uint64_t sum = 0;
    for (int const x : c_) sum = sum * 31 + static_cast<std::uint64_t>(x);
    return sum;
  }

 private:
  [[nodiscard]] std::vector<int> square() const {
    return std::vector<int>(static_cast<std::size_t>(n_) * static_cast<std::size_t>(n_));
  }
  int n_;
  std::vector<int> a_, b_, c_;
};

// ---- parallel_for

/// A nanosecond of work on an element.  One by one: vectorised, it would measure the memory.
inline void step(std::uint64_t& x) {
  x = launder(x) + 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  x ^= x >> 31;
}

class elements {
 public:
  explicit elements(std::size_t n) : all_(n) {
    std::iota(all_.begin(), all_.end(), std::uint64_t{0});
  }
  std::vector<std::uint64_t>& all() { return all_; }
  [[nodiscard]] std::uint64_t answer() const {
    std::uint64_t sum = 0;
    for (auto const x : all_) sum = sum * 31 + x;
    return sum;
  }

 private:
  std::vector<std::uint64_t> all_;
};

}  // namespace weft::bench
