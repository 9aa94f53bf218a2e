// SPDX-License-Identifier: MIT
#include "weft/adapters/format.hpp"

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

#if defined(__cpp_lib_format)
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

TEST_CASE("an id, a path, a report and a waiter are formatted by std::format as weft writes them") {
  CHECK(std::format("{}", process_id().child(2)) == "1.2");
  CHECK(std::format("[{:>6}]", process_id().child(2)) == "[   1.2]");
  auto const found = explore([] { return 0; }, twice, [](int const& n) { return n == 2; });
  CHECK(std::format("{}", found) == found.report());
  auto const& wrong = *found.first_failure();
  CHECK(std::format("{}", wrong) == exploration::text(wrong));
  CHECK(std::format("{}", wrong.path) == wrong.path.text());
  CHECK(std::format("{}", wrong.trace.front()) == wrong.trace.front().text());
  deadlock::waiter const w{process_id(), "a wait", {}};
  CHECK(std::format("{}", w) == w.text());
}

TEST_CASE("a point of the clock is formatted by std::format in seconds") {
  using std::chrono::milliseconds;
  CHECK(std::format("{}", clock_time{instant()}) == "0s");
  CHECK(std::format("{:>7}", clock_time{instant() + milliseconds(1250)}) == "  1.25s");
  CHECK(std::format("{}", clock_time{instant() - milliseconds(5)}) == "-0.005s");
}
#endif
