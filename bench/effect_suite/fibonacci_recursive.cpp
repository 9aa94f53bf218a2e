// SPDX-License-Identifier: MIT

/// The rival: the same recursion by plain calls.  The compiler may know neither result: else it
/// turns one of the two calls into a loop, and merges several levels.
///
/// The second row has plain functions on weft's side, too, as one would write a program that
/// performs nothing; there the compiler may optimise freely.

#include "examples/effect_suite/fibonacci_recursive.hpp"

#include <cstdint>

#include "bench/effect_suite/rows.hpp"
#include "bench/harness.hpp"

namespace {

using weft::bench::launder;

constexpr int input = 42;
constexpr std::uint64_t answer = 267'914'296;

[[gnu::noinline]] std::int64_t fibonacci(int n) {
  if (n < 2) return n;
  std::int64_t const a = launder(fibonacci(n - 1));
  std::int64_t const b = launder(fibonacci(n - 2));
  return a + b;
}

std::uint64_t in_frames() {
  return static_cast<std::uint64_t>(effect_suite::fibonacci_recursive::program(launder(input)));
}
std::uint64_t in_plain_functions() {
  return static_cast<std::uint64_t>(effect_suite::fibonacci_recursive::plainly(launder(input)));
}
std::uint64_t by_calls() { return static_cast<std::uint64_t>(fibonacci(launder(input))); }

}  // namespace

void weft::bench::effect_suite_fibonacci_recursive(suite& bench) {
  bench.compare_seconds("fibonacci_recursive", in_frames, "calls", by_calls, answer);
  bench.compare_seconds("fibonacci_recursive/plain functions", in_plain_functions, "calls",
                        by_calls, answer);
}
