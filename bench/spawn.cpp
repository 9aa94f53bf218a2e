// SPDX-License-Identifier: MIT

/// What does a process with almost no work cost?  A thousand are spawned, then they run to their
/// ends, and again.  ns a process.
///
/// The rival, `pooled-coroutine`, is a coroutine from the same pool, started from a ring
/// (rivals_ring.hpp).  Like weft's process it is created by a function that the compiler does not
/// see through; and on both sides the body calls such a function, so that it is not empty.

#include <coroutine>
#include <cstddef>
#include <cstdint>

#include "bench/harness.hpp"
#include "bench/rivals_ring.hpp"
#include "weft/effects/effects.hpp"
#include "weft/sched/schedule.hpp"

namespace {

using weft::eff;
using weft::schedule;
using weft::spawn;
using weft::spawning;
using weft::yielding;
using weft::bench::launder;
using weft::bench::pooled_coroutine;
using weft::bench::ring;

constexpr int at_once = 1000;
/// Processes a step.
constexpr std::size_t many = 100;

[[gnu::noinline]] void add(std::uint64_t* sum, int x) {
  *sum = *sum * 31 + static_cast<std::uint64_t>(launder(x));
}

eff<void, yielding> tiny(std::uint64_t* sum, int x) {
  add(sum, x);
  co_return;
}
eff<void, yielding, spawning<yielding>> batches(std::uint64_t* sum, std::size_t n) {
  auto const body = launder(&tiny);
  for (std::size_t i = 0; i != n; ++i) {
    for (int x = 0; x != at_once; ++x) co_await spawn(body, sum, x);
    co_await yielding::yield{};  // after all of them
  }
}
std::uint64_t spawned(std::size_t steps) {
  std::uint64_t sum = 0;
  schedule([at = &sum, n = steps * many / at_once] { return batches(at, n); });
  return sum;
}

pooled_coroutine tiny_coroutine(std::uint64_t* sum, int x) {
  add(sum, x);
  co_return;
}
std::uint64_t by_hand(std::size_t steps) {
  std::uint64_t sum = 0;
  auto const body = launder(&tiny_coroutine);
  ring<std::coroutine_handle<>> ready(at_once);
  for (std::size_t i = 0; i != steps * many / at_once; ++i) {
    for (int x = 0; x != at_once; ++x) ready.push(body(&sum, x).frame);
    while (!ready.empty()) ready.pop().resume();
  }
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  weft::bench::suite bench("spawn", argc, argv);
  bench.compare(
      "spawn+finish/1000", [] { return spawned; }, "pooled-coroutine", [] { return by_hand; },
      many);
  return bench.run();
}
