// SPDX-License-Identifier: MIT
#include "sched/explore.hpp"

#include <catch2/catch.hpp>
#include <functional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include "effects/effects.hpp"
#include "examples/hello.hpp"
#include "sched/schedule.hpp"
#include "tests/support/frames.hpp"

using namespace weft;

namespace {

using parent = eff<void, proc, spawning<proc>>;
using process = eff<void, proc>;

process steps(int n) {
  for (int i = 1; i < n; ++i) co_await proc::yield{};
}
parent two_with_three_steps() {
  co_await spawn(steps, 3);
  co_await spawn(steps, 3);
}
parent three_with_two_steps() {
  for (int i = 0; i != 3; ++i) co_await spawn(steps, 2);
}

process increment(int& n) {
  int const seen = n;
  co_await proc::yield{};
  n = seen + 1;
}
parent two_increments(int& n) {
  co_await spawn(increment, std::ref(n));
  co_await spawn(increment, std::ref(n));
}

int zero() { return 0; }
bool is_two(int const& n) { return n == 2; }
bool always(int const&) { return true; }

}  // namespace

TEST_CASE("two processes of three steps have 20 schedules, three of two have 90") {
  weft::tests::every_frame_dies const here;
  auto const two = explore(zero, [](int&) { return two_with_three_steps(); }, always);
  auto const three = explore(zero, [](int&) { return three_with_two_steps(); }, always);
  CHECK(two.ok());
  CHECK(two.complete);
  CHECK(two.schedules == 20);
  CHECK(three.schedules == 90);
}

TEST_CASE("an increment that yields between read and write can be lost") {
  weft::tests::every_frame_dies const here;
  auto const found = explore(zero, two_increments, is_two);
  CHECK(found.schedules == 6);
  CHECK(found.failed == 4);
  CHECK_FALSE(found.ok());
  REQUIRE(found.first_failure());
  auto const path = found.first_failure()->path.text();

  auto const again = follow(path, zero, two_increments, is_two);
  CHECK(again.failed == 1);
  CHECK_FALSE(again.nondeterminism);
  REQUIRE(again.outcomes.size() == 1);
  CHECK(again.outcomes[0].trace.size() == 5);
  CHECK(again.outcomes[0].path.text() == path);
}
