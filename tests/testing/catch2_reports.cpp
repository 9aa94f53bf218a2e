// SPDX-License-Identifier: MIT

/// Wrong programs, one for each verdict, whose Catch2 output is compared.  Each test is to fail,
/// hence its tag.  Each call is on one line: compilers differ in which of several they report.

#include <catch2/catch.hpp>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "weft/effects/effects.hpp"
#include "weft/sched/schedule.hpp"
#include "weft/testing/catch2.hpp"

using namespace weft;

namespace {

using task = eff<void, proc>;
using parent = eff<void, spawning<proc>>;

int zero() { return 0; }

task increment(int& n) {
  int const seen = n;
  co_await proc::yield{};
  n = seen + 1;
}
template <task (*F)(int&)>
parent two_of(int& n) {
  co_await spawn(F, std::ref(n));
  co_await spawn(F, std::ref(n));
}

task requires_more_each_time(int& n) {
  int const before = n;
  CAPTURE(before);
  co_await increment(n);
  REQUIRE(n == before + 1);
  REQUIRE(n != 1);
}
task checks_for_two(int& n) {
  co_await increment(n);
  CHECK(n <= 1);
}
task throws_if_second(int& n) {
  if (++n == 2) throw std::runtime_error("one too many");
  co_await proc::yield{};
}

struct locks {
  mutex left, right;
};
eff<void, proc, syncing> holds_both(mutex& first, mutex& second) {
  auto const one = co_await first.lock();
  co_await proc::yield{};
  auto const other = co_await second.lock();
}
eff<void, spawning<proc, syncing>> crosswise(locks& l) {
  co_await spawn(holds_both, std::ref(l.left), std::ref(l.right));
  co_await spawn(holds_both, std::ref(l.right), std::ref(l.left));
}

task increments_for_ever(int& n) {
  for (;;) co_await increment(n);
}
task increments_often(int& n) {
  for (int i = 0; i != 16; ++i) co_await increment(n);
}

int calls = 0;
parent another_each_time(int& n) {
  for (int i = ++calls % 3; i != 0; --i) co_await spawn(increment, std::ref(n));
}

}  // namespace

TEST_CASE("REQUIRE in a process", "[!shouldfail]") {
  check_every_schedule(zero, two_of<requires_more_each_time>, [](int&) {});
}

TEST_CASE("CHECK in a process", "[!shouldfail]") {
  int const n = GENERATE(1, 2);
  INFO("time " << n);
  check_every_schedule(zero, two_of<checks_for_two>, [](int&) { return true; });
}

TEST_CASE("an exception", "[!shouldfail]") {
  SECTION("that a process throws") {
    check_random_schedules(zero, two_of<throws_if_second>, [](int&) {});
  }
}

TEST_CASE("a false check", "[!shouldfail]") {
  check_every_schedule(zero, two_of<increment>, [](int& n) { return n == 2; });
}

TEST_CASE("an assertion in the check", "[!shouldfail]") {
  auto const check = [](int& n) {
    INFO("at the end");
    REQUIRE(n == 2);
  };
  require_every_schedule(zero, two_of<increment>, check);
  FAIL("is not reached");
}

TEST_CASE("a deadlock", "[!shouldfail]") {
  check_every_schedule([] { return locks(); }, crosswise, [](locks&) {});
}

TEST_CASE("nondeterminism", "[!shouldfail]") {
  check_every_schedule(zero, another_each_time, [](int&) {});
}

TEST_CASE("a leak", "[!shouldfail]") {
  std::vector<task> kept;
  auto const keeps_one = [&kept](int& n) {
    kept.push_back(increment(n));
    return increment(n);
  };
  check_every_schedule(zero, keeps_one, [](int&) {});
}

TEST_CASE("schedules that were cut, though nobody asked for that", "[!shouldfail]") {
  check_every_schedule(zero, increments_for_ever, [](int&) {});
}

TEST_CASE("a path that is a long one", "[!shouldfail]") {
  random_walk_options const options{.seed = 5, .max_shrinking_runs = 0};
  auto const check = [](int& n) { CHECK(n == 32); };
  check_random_schedules(options, zero, two_of<increments_often>, check);
}

TEST_CASE("a search that passes is not in the report") {
  check_every_schedule(zero, two_of<increment>, [](int& n) {
    SUCCEED();
    CHECK(n != 0);
  });
}
