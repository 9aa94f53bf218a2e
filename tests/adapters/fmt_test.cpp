// SPDX-License-Identifier: MIT
#include "weft/adapters/fmt.hpp"

#include <catch2/catch.hpp>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "weft/adapters/clock_time.hpp"
#include "weft/effects/effects.hpp"
#include "weft/sched/base/errors.hpp"
#include "weft/sched/schedule.hpp"
#include "weft/testing/explore.hpp"

using namespace weft;

namespace {

eff<void, proc> increment(int& n) {
  int const seen = n;
  co_await proc::yield{};
  n = seen + 1;
}
eff<void, spawning<proc>> twice(int& n) {
  co_await spawn(increment, std::ref(n));
  co_await spawn(increment, std::ref(n));
}

}  // namespace

TEST_CASE("an id, a path, a report and a waiter are formatted by fmt as weft writes them") {
  CHECK(fmt::format("{}", process_id().child(2)) == "1.2");
  CHECK(fmt::format("[{:>6}]", process_id().child(2)) == "[   1.2]");
  auto const found = explore([] { return 0; }, twice, [](int const& n) { return n == 2; });
  CHECK(fmt::format("{}", found) == found.report());
  auto const& wrong = *found.first_failure();
  CHECK(fmt::format("{}", wrong) == exploration::text(wrong));
  CHECK(fmt::format("{}", wrong.path) == wrong.path.text());
  CHECK(fmt::format("{}", wrong.trace.front()) == wrong.trace.front().text());
  deadlock::waiter const w{process_id(), "a wait", {}};
  CHECK(fmt::format("{}", w) == w.text());
}

TEST_CASE("a point of the clock is formatted in seconds") {
  using std::chrono::milliseconds;
  CHECK(fmt::format("{}", clock_time{instant()}) == "0s");
  CHECK(fmt::format("{:>7}", clock_time{instant() + milliseconds(1250)}) == "  1.25s");
  CHECK(fmt::format("{}", clock_time{instant() - milliseconds(5)}) == "-0.005s");
}
