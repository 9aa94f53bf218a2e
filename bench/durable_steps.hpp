// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include "bench/harness.hpp"
#include "weft/durable/engine.hpp"
#include "weft/effects/effects.hpp"
#include "weft/sched/schedule.hpp"

/// Durable processes of trivial steps, for the benches of stores.
namespace weft::bench {

inline int one_more(int n) { return n + 1; }
inline eff<int, durable::all<>> steps(int n) {
  int count = 0;
  for (int i = 0; i != n; ++i) count = co_await durable::step("one more", one_more, count);
  co_return count;
}
inline constexpr durable::function steps_process{"steps", 1, steps};

/// The sum of what the processes "0", "1", ... have returned.
template <class Engine>
std::uint64_t sum_of_results(Engine& e, int processes) {
  std::uint64_t sum = 0;
  for (int i = 0; i != processes; ++i)
    sum += static_cast<std::uint64_t>(e.template result<int>(std::to_string(i)));
  return sum;
}
/// Runs as many processes of `each` steps on an empty store.
inline timed durable_steps(durable::store& store, int processes, int each) {
  durable::engine e({.until = durable::run_until::all_ended}, store, steps_process);
  for (int i = 0; i != processes; ++i) e.start(std::to_string(i), steps_process, each);
  timed t = whole([&] {
    schedule([&] { return e.run(); });
    return std::uint64_t{0};
  });
  t.answer = sum_of_results(e, processes);
  return t;
}

}  // namespace weft::bench
