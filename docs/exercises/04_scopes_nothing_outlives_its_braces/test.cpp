// SPDX-License-Identifier: MIT
#include <catch2/catch.hpp>
#include <chrono>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "weft/effects/effects.hpp"
#include "weft/sched/schedule.hpp"
#include "weft/sched/tasks/scope.hpp"
#ifdef SOLVED
#include "docs/exercises/04_scopes_nothing_outlives_its_braces/solutions.hpp"
#else
#include "docs/exercises/04_scopes_nothing_outlives_its_braces/exercises.hpp"
#endif

namespace scopes_nothing_outlives_its_braces {
namespace {

/// Runs the computation that `f` returns, and returns how many milliseconds it took.
template <class F>
int ms_of(F f) {
  int took = -1;
  schedule({.virtual_time = true}, [&]() -> eff<void, waits, timing> {
    instant const start = co_await timing::now{};
    co_await f();
    took = static_cast<int>((co_await timing::now{} - start) / 1ms);
  });
  return took;
}

TEST_CASE("1: the time that a scope takes is predicted", "[1]") {
  CHECK(ms_of_three_tasks() == ms_of([] { return three_tasks(false); }));
  CHECK(ms_of_three_tasks_that_are_cancelled() == ms_of([] { return three_tasks(true); }));
}

TEST_CASE("2: the number of entries is predicted", "[2]") {
  int written = 0;
  ms_of([&] { return entries(written); });
  CHECK(written_without_a_shield() == written);
}

TEST_CASE("3: all pages are fetched at the same time", "[3]") {
  std::pair<std::vector<int>, int> const cases[] = {{{}, 0}, {{7}, 7}, {{3, 9, 4}, 9}};
  for (auto const& [sizes, longest] : cases) {
    int sum = 0;
    int const took = ms_of([&]() -> eff<void, waits, timing> { sum = co_await fetch_all(sizes); });
    int expected = 0;
    for (int const n : sizes) expected += n;
    CHECK(sum == expected);
    CHECK(took == longest);
  }
}

TEST_CASE("4: a computation has a limited time", "[4]") {
  auto const answer = [](int ms) { return [ms] { return fetch(ms); }; };
  std::optional<int> result;
  int took =
      ms_of([&]() -> eff<void, waits, timing> { result = co_await in_time(answer(5), 10ms); });
  CHECK(result == 5);
  CHECK(took == 5);

  took = ms_of([&]() -> eff<void, waits, timing> { result = co_await in_time(answer(50), 10ms); });
  CHECK(result == std::nullopt);
  CHECK(took == 10);

  auto const fails = []() -> eff<int, timing> {
    co_await timing::sleep_for{1ms};
    throw std::runtime_error("fails");
  };
  auto const awaits_failure = [&]() -> eff<void, waits, timing> {
    result = co_await in_time(fails, 10ms);
  };
  CHECK_THROWS_WITH(ms_of(awaits_failure), "fails");
}

TEST_CASE("5: a transfer is done completely or not at all, whenever it is cancelled", "[5]") {
  for (int ms = 0; ms != 5; ++ms) {
    int from = 100;
    int to = 0;
    ms_of([&]() -> eff<void, waits, timing> {
      try {
        co_await with_scope({.timeout = std::chrono::milliseconds(ms)},
                            [&](auto& s) { s.start(transfer, std::ref(from), std::ref(to), 30); });
      } catch (cancelled const&) {
      }
    });
    CHECK(from + to == 100);
    if (ms > 2) CHECK(to == 30);
  }
}

TEST_CASE("6: the far server is asked after a while, and the first answer counts", "[6]") {
  int asked = 0;
  auto const answers = [&asked](std::string text, instant::duration time) -> server {
    return [&asked, text, time]() -> eff<std::string, timing> {
      ++asked;
      co_await timing::sleep_for{time};
      co_return text;
    };
  };
  // The time of the near server, and of the far one; which answers first, when, and how many were asked.
  struct {
    instant::duration near, far;
    std::string first;
    int ms, asked;
  } const cases[] = {
      {5ms, 50ms, "near", 5, 1}, {100ms, 20ms, "far", 30, 2}, {15ms, 20ms, "near", 15, 2}};
  for (auto const& c : cases) {
    asked = 0;
    std::string first;
    // The servers are kept here, since their closures are coroutines.
    server const near = answers("near", c.near);
    server const far = answers("far", c.far);
    int const took =
        ms_of([&]() -> eff<void, waits, timing> { first = co_await hedged(near, far, 10ms); });
    CHECK(first == c.first);
    CHECK(took == c.ms);
    CHECK(asked == c.asked);
  }
}

}  // namespace
}  // namespace scopes_nothing_outlives_its_braces
