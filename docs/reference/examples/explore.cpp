// SPDX-License-Identifier: MIT
// Every schedule of a program, and what a search finds out.
#include <chrono>
#include <iostream>
#include <string>

#include <weft/effects/effects.hpp>
#include <weft/sched/schedule.hpp>
#include <weft/testing/testing.hpp>
using namespace weft;

eff<void, proc> increments(int& n) {
  int const seen = n;
  co_await proc::yield{};
  n = seen + 1;
}
eff<void, spawning<proc>> two_increments(int& n) {
  co_await spawn(increments, std::ref(n));
  co_await spawn(increments, std::ref(n));
}
bool is_right(int n) { return n == 2; }

int main() {
  explore_options const how{.max_schedules = 1000,
                            .max_steps = 100,
                            .max_time = std::chrono::minutes(1),
                            .max_preemptions = {},
                            .granularity = granularity::cooperative,
                            .reduce = false,
                            .stop_at_failure = false,
                            .max_shrinking_runs = 100,
                            .progress = progress::never,
                            .page = "",
                            .threads = 2};
  auto const found = explore(how, [] { return 0; }, two_increments, is_right);
  std::cout << found.summary();
  exploration::outcome const& o = *found.first_failure();
  std::string const path = o.path.text();
  std::cout << path << ", " << o.switches << " switches\n";

  auto const again = follow(path, [] { return 0; }, two_increments, is_right);
  std::cout << exploration::story(again.outcomes.front());
  auto const with_options =
      follow(follow_options{.path = path, .page = ""}, [] { return 0; }, two_increments, is_right);
  auto const smaller = shrink(path, 100, [] { return 0; }, two_increments, is_right);
  std::cout << with_options.ok() << smaller.outcomes.front().preemptions << '\n';
}
