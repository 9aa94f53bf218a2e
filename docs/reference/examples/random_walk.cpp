// SPDX-License-Identifier: MIT
// Some schedules, drawn at random, where there are too many to visit all.
#include <chrono>
#include <iostream>

#include <weft/effects/effects.hpp>
#include <weft/sched/schedule.hpp>
#include <weft/testing/testing.hpp>
using namespace weft;

eff<void, proc> increments(int& n) {
  int const seen = n;
  co_await proc::yield{};
  n = seen + 1;
}
eff<void, spawning<proc>> ten_increments(int& n) {
  for (int i = 0; i != 10; ++i) co_await spawn(increments, std::ref(n));
}

int main() {
  for (walk_strategy const by : {walk_strategy::uniform, walk_strategy::weighted,
                                 walk_strategy::pct, walk_strategy::portfolio}) {
    random_walk_options const how{.seed = 7,
                                  .by = by,
                                  .depth = 3,
                                  .max_schedules = 1000,
                                  .max_steps = 1000,
                                  .max_time = std::chrono::minutes(1),
                                  .granularity = granularity::cooperative,
                                  .stop_at_failure = true,
                                  .max_shrinking_runs = 1000,
                                  .progress = progress::never,
                                  .page = "",
                                  .threads = 1};
    auto const found =
        random_walk(how, [] { return 0; }, ten_increments, [](int n) { return n == 10; });
    std::cout << found.failed << " failed, with " << found.first_failure()->switches
              << " switches\n";
  }
}
