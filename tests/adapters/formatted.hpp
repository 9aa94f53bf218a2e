// SPDX-License-Identifier: MIT
#pragma once

#include <catch2/catch.hpp>
#include <chrono>
#include <functional>

#include "weft/adapters/clock_time.hpp"
#include "weft/effects/effects.hpp"
#include "weft/sched/base/errors.hpp"
#include "weft/sched/schedule.hpp"
#include "weft/testing/explore.hpp"

/// What each library's formatters write.  `format(text, value)` formats by that library.
namespace weft::tests {

inline eff<void, proc> formatted_increment(int& n) {
  int const seen = n;
  co_await proc::yield{};
  n = seen + 1;
}
inline eff<void, spawning<proc>> formatted_twice(int& n) {
  co_await spawn(formatted_increment, std::ref(n));
  co_await spawn(formatted_increment, std::ref(n));
}

/// An id, a path, a report and a waiter.
template <class Format>
void check_formatted_reports(Format format) {
  CHECK(format("{}", process_id().child(2)) == "1.2");
  CHECK(format("[{:>6}]", process_id().child(2)) == "[   1.2]");
  auto const found =
      explore([] { return 0; }, formatted_twice, [](int const& n) { return n == 2; });
  CHECK(format("{}", found) == found.report());
  auto const& wrong = *found.first_failure();
  CHECK(format("{}", wrong) == exploration::text(wrong));
  CHECK(format("{}", wrong.path) == wrong.path.text());
  CHECK(format("{}", wrong.trace.front()) == wrong.trace.front().text());
  deadlock::waiter const w{process_id(), "a wait", {}};
  CHECK(format("{}", w) == w.text());
}
template <class Format>
void check_formatted_times(Format format) {
  using std::chrono::milliseconds;
  CHECK(format("{}", clock_time{instant()}) == "0s");
  CHECK(format("{:>7}", clock_time{instant() + milliseconds(1250)}) == "  1.25s");
  CHECK(format("{}", clock_time{instant() - milliseconds(5)}) == "-0.005s");
}

}  // namespace weft::tests
