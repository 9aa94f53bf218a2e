// SPDX-License-Identifier: MIT

/// The rival: a plain recursion that calls itself and works on the result.

#include "examples/effect_suite/resume_nontail.hpp"

#include <cstdint>
#include <cstdlib>

#include "bench/effect_suite/rows.hpp"
#include "bench/harness.hpp"

namespace {

using weft::bench::launder;

constexpr int input = 10'000;
constexpr std::uint64_t answer = 860;

[[gnu::noinline]] int loop(int i, int result) {
  if (i == 0) return result;
  int const rest = launder(loop(i - 1, result));
  return std::abs(i - 503 * rest + 37) % 1009;
}

std::uint64_t handled() {
  return static_cast<std::uint64_t>(effect_suite::resume_nontail::program(launder(input)));
}
std::uint64_t by_calls() {
  int result = 0;
  for (int i = 0; i != 1000; ++i) result = loop(launder(input), result);
  return static_cast<std::uint64_t>(result);
}

}  // namespace

void weft::bench::effect_suite_resume_nontail(suite& bench) {
  bench.compare_seconds("resume_nontail", handled, "calls", by_calls, answer);
}
