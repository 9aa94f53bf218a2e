// SPDX-License-Identifier: MIT

/// What does a trace cost?  A hundred processes yield in turn; ns an event, of which a yield has five:
/// performed, suspended, put, taken, resumed.
///
///   on   The scheduler is traced.  Rival: the same without a trace, tracing<> with null.
///   off  Traced with null, an event not written.  Rival: the scheduler that is not traced.
///
/// A trace begins every 100,000 yields, so the memory that it fills is fresh each time, as it is for
/// a program that is traced.

#include "weft/trace/trace.hpp"

#include <cstddef>
#include <cstdint>

#include "bench/harness.hpp"
#include "weft/effects/effects.hpp"
#include "weft/sched/schedule.hpp"
#include "weft/trace/tracing.hpp"

namespace {

using weft::eff;
using weft::spawning;
using weft::yielding;

constexpr std::size_t processes = 100;
constexpr std::size_t events = 5;

eff<void, yielding> yields(std::size_t n, std::uint64_t* sum) {
  for (std::size_t i = 0; i != n; ++i) {
    co_await yielding::yield{};
    *sum = *sum * 31 + i;
  }
}
eff<void, spawning<yielding>, yielding> crowd(std::size_t n, std::uint64_t* sum) {
  for (std::size_t i = 0; i != processes; ++i) co_await weft::spawn(yields, n, sum);
}

enum class kept : std::uint8_t { yes, no };

template <class Backend>
weft::bench::work run_on(kept how) {
  return [how](std::size_t steps) {
    std::uint64_t sum = 0;
    for (std::size_t left = steps; left != 0;) {
      std::size_t const now = left < 100'000 ? left : 100'000;
      left -= now;
      weft::trace t({.max_events = (now + 2 * processes) * (events + 2), .max_text = 0});
      weft::schedule_options o;
      if (how == kept::yes) o.trace = &t;
      weft::schedule<Backend>(o, [&sum, now] { return crowd(now / processes + 1, &sum); });
      if (t.dropped() != 0) return std::uint64_t{0};
    }
    return sum;
  };
}

}  // namespace

int main(int argc, char** argv) {
  weft::bench::suite trace("trace", argc, argv);
  trace.compare(
      "on", [] { return run_on<weft::tracing<>>(kept::yes); }, "off",
      [] { return run_on<weft::tracing<>>(kept::no); }, events);
  trace.compare(
      "off", [] { return run_on<weft::tracing<>>(kept::no); }, "not traced",
      [] { return run_on<weft::one_thread>(kept::no); }, events);
  return trace.run();
}
