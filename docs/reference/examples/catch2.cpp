// SPDX-License-Identifier: MIT
// Schedules as assertions of Catch2.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#include <functional>

#include <weft/effects/effects.hpp>
#include <weft/sched/schedule.hpp>
#include <weft/testing/catch2.hpp>
using namespace weft;

eff<void, proc> increments(int& n) {
  co_await proc::yield{};
  ++n;
}
eff<void, spawning<proc>> twice(int& n) {
  co_await spawn(increments, std::ref(n));
  co_await spawn(increments, std::ref(n));
}
int zero() { return 0; }
void is_two(int& n) { CHECK(n == 2); }

TEST_CASE("two increments make two, in each schedule") {
  check_every_schedule(zero, twice, is_two);
  require_every_schedule(explore_options{.progress = progress::never}, zero, twice, is_two);
}
TEST_CASE("two increments make two, in some schedules") {
  check_random_schedules(random_walk_options{.max_schedules = 10, .progress = progress::always},
                         zero, twice, is_two);
  require_random_schedules(
      random_walk_options{.max_schedules = 10, .progress = progress::on_terminal}, zero, twice,
      is_two);
}
TEST_CASE("two increments make two, in that schedule") {
  auto const found = explore(zero, twice, [](int const& n) { return n == 2; });
  auto const path = found.outcomes.front().path.text();
  check_schedule(path, zero, twice, is_two);
  require_schedule(path, zero, twice, is_two);
}
