// SPDX-License-Identifier: MIT

/// How many schedules a second does `explore` run?
///
///   lost_update  Two processes read a number, yield, and write it back one larger.  Of the six
///                schedules four lose an update.  Each is a run from the beginning, with a state,
///                a scheduler and three processes of its own.
///
/// There is no rival.

#include <cstddef>
#include <cstdint>
#include <functional>

#include "bench/harness.hpp"
#include "effects/effects.hpp"
#include "sched/schedule.hpp"
#include "sched/testing.hpp"

namespace {

using weft::eff;
using weft::explore;
using weft::proc;
using weft::spawn;
using weft::spawning;

eff<void, proc> increment(int& n) {
  int const seen = n;
  co_await proc::yield{};
  n = seen + 1;
}
eff<void, proc, spawning<proc>> increment_twice(int& n) {
  co_await spawn(increment, std::ref(n));
  co_await spawn(increment, std::ref(n));
}

std::uint64_t lost_update(std::size_t steps) {
  std::uint64_t answer = 0;
  for (std::size_t i = 0; i != steps; ++i) {
    auto const seen =
        explore([] { return 0; }, increment_twice, [](int const& n) { return n == 2; });
    answer += static_cast<std::uint64_t>(seen.schedules * 10 + seen.failed);
  }
  return answer;
}

}  // namespace

int main(int argc, char** argv) {
  weft::bench::suite bench("explore", argc, argv);
  constexpr std::size_t schedules = 6;
  constexpr std::size_t failed = 4;
  bench.measure_rate(
      "lost_update", [] { return lost_update; }, 1000 * (schedules * 10 + failed), schedules);
  return bench.run();
}
