// SPDX-License-Identifier: MIT
#include "examples/hello.hpp"
#include "tests/prelude.hpp"

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

int zero() { return 0; }
bool always(int const&) { return true; }

TEST_CASE("two processes of three steps have 20 schedules, and three of two steps have 90") {
  weft::tests::every_frame_dies const here;
  auto const two = explore(zero, [](int&) { return two_with_three_steps(); }, always);
  auto const three = explore(zero, [](int&) { return three_with_two_steps(); }, always);
  CHECK(two.ok());
  CHECK(two.complete);
  CHECK(two.schedules == 20);
  CHECK(three.schedules == 90);
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

bool is_two(int const& n) { return n == 2; }

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

TEST_CASE("the program of examples/hello.hpp has 35 schedules, each with another output") {
  weft::tests::every_frame_dies const here;
  auto const found = explore([] { return std::string(); }, [](std::string&) { return hello(); },
                             [](std::string const& s) { return s; },
                             [](std::string& s) { return console_to_string(s); });
  CHECK(found.ok());
  CHECK(found.schedules == 35);
  CHECK(found.outcomes.size() == 35);
}

process adds(std::string& s, std::string what) {
  s += what;
  co_await proc::yield{};
  s += what;
}
parent a_and_b(std::string& s) {
  co_await spawn(adds, std::ref(s), "a");
  co_await spawn(adds, std::ref(s), "b");
}

TEST_CASE(
    "outcomes that the check names differently are kept apart, each with its first schedule") {
  weft::tests::every_frame_dies const here;
  auto const found =
      explore([] { return std::string(); }, a_and_b, [](std::string const& s) { return s; });
  CHECK(found.ok());
  CHECK(found.schedules == 6);
  CHECK(found.outcomes.size() == 6);
  std::set<std::string> names;
  for (auto const& o : found.outcomes) {
    names.insert(o.result.text);
    CHECK(o.schedules == 1);
    auto const again = follow(
        o.path.text(), [] { return std::string(); }, a_and_b,
        [](std::string const& s) { return s; });
    CHECK(again.outcomes.at(0).result.text == o.result.text);
  }
  CHECK(names == std::set<std::string>{"aabb", "abab", "abba", "baab", "baba", "bbaa"});
}

/// Each of the two waits for the other.
struct two_gates {
  gate left, right;
};
using waits = eff<void, proc, syncing>;
waits wakes_after_waiting(gate& mine, gate& others) {
  co_await syncing::wait{mine};
  co_await syncing::wake{others};
}
eff<void, spawning<proc, syncing>> crosswise(two_gates& g) {
  co_await spawn(wakes_after_waiting, std::ref(g.left), std::ref(g.right));
  co_await spawn(wakes_after_waiting, std::ref(g.right), std::ref(g.left));
}

TEST_CASE("a deadlock is found and reported with the place where each process waits") {
  weft::tests::every_frame_dies const here;
  auto const found =
      explore([] { return two_gates(); }, crosswise, [](two_gates const&) { return true; });
  CHECK(found.deadlocks == found.schedules);
  REQUIRE(found.first_failure());
  auto const& text = found.first_failure()->result.text;
  CHECK(text.find("process 1.1 (wakes_after_waiting #1) in weft::syncing::wait at "
                  "tests/testing/explore_test.cpp:") != text.npos);
  CHECK(text.find("process 1.2 (wakes_after_waiting #2) in weft::syncing::wait at "
                  "tests/testing/explore_test.cpp:") != text.npos);
}

/// A lock that processes take in either order.
struct lock {
  bool taken = false;
  gate freed;
};
struct two_locks {
  lock left, right;
};
waits take(lock& l) {
  while (l.taken) co_await syncing::wait{l.freed};
  l.taken = true;
}
waits release(lock& l) {
  l.taken = false;
  co_await syncing::wake{l.freed};
}
waits holds_both(lock& first, lock& second) {
  co_await take(first);
  co_await proc::yield{};
  co_await take(second);
  co_await release(second);
  co_await release(first);
}
eff<void, spawning<proc, syncing>> take_crosswise(two_locks& l) {
  co_await spawn(holds_both, std::ref(l.left), std::ref(l.right));
  co_await spawn(holds_both, std::ref(l.right), std::ref(l.left));
}

TEST_CASE("the order in which processes are unwound is no part of a schedule") {
  weft::tests::every_frame_dies const here;
  auto const found =
      explore([] { return two_locks(); }, take_crosswise, [](two_locks const&) { return true; });
  CHECK(found.schedules == 6);
  CHECK(found.deadlocks == 4);
  // The trace ends where both processes wait.
  for (auto const& step : found.first_failure()->trace)
    CHECK(step.operation != "weft::syncing::wait");
}

/// If the wake-up comes before the wait, the waiter is not woken.
waits comes_to(gate& g) { co_await syncing::wait{g}; }
waits wakes_all_at(gate& g) { co_await syncing::wake{g, g.waiting()}; }
eff<void, spawning<proc, syncing>> race(gate& g) {
  co_await spawn(comes_to, std::ref(g));
  co_await spawn(wakes_all_at, std::ref(g));
}

TEST_CASE("a wake-up that comes too early is a deadlock in that schedule only") {
  weft::tests::every_frame_dies const here;
  auto const found = explore([] { return gate(); }, race, [](gate const&) { return true; });
  CHECK(found.schedules == 2);
  CHECK(found.deadlocks == 1);
}

process throws_if_first(int& n) {
  if (n++ == 0) throw std::runtime_error("first");
  co_return;
}
parent one_throws(int& n) {
  co_await spawn(throws_if_first, std::ref(n));
  co_await spawn(steps, 1);
}

TEST_CASE("an exception of a process is a failure, with its text") {
  weft::tests::every_frame_dies const here;
  auto const found = explore(zero, one_throws, always);
  CHECK(found.failed == found.schedules);
  CHECK(found.first_failure()->result.text == "first");
  auto const report = found.report();
  CHECK(report.find("the first failure: first\n") != report.npos);
  CHECK(report.find("follow(\"") != report.npos);
}

process forks_and_adds(int& n) {
  bool const first = co_await proc::fork{};
  co_await proc::yield{};
  n = 10 * n + (first ? 1 : 2);
}

TEST_CASE("a fork is a step, and its two processes are scheduled like others") {
  weft::tests::every_frame_dies const here;
  auto const found = explore(zero, forks_and_adds, [](int const& n) { return std::to_string(n); });
  CHECK(found.schedules == 6);  // two processes of two steps
  CHECK(found.outcomes.size() == 2);
}

TEST_CASE("a check may name an outcome and declare it wrong") {
  weft::tests::every_frame_dies const here;
  auto const found = explore(zero, two_increments, [](int const& n) {
    return run_result{n == 2 ? verdict::ok : verdict::failed, std::to_string(n)};
  });
  CHECK(found.failed == 4);
  REQUIRE(found.outcomes.size() == 2);
  CHECK(found.first_failure()->result.text == "1");
}

using printing = eff<void, proc, console>;
printing prints_d() { co_await console::print{"d"}; }
printing forks_late() {
  co_await console::print{"a"};
  bool const first = co_await proc::fork{};
  co_await proc::yield{};
  co_await console::print{first ? "b" : "c"};
}
printing forks_twice() { co_await weft::fork(forks_late, prints_d); }

TEST_CASE("the run of the scheduler on one thread is one of the schedules that are explored") {
  weft::tests::every_frame_dies const here;
  auto const program = GENERATE(&hello, &forks_twice, &prints_d);
  std::string once;
  schedule(program, console_to_string(once));
  auto const found = explore(
      [] { return std::string(); }, [program](std::string&) { return program(); },
      [](std::string const& s) { return s; }, [](std::string& s) { return console_to_string(s); });
  CHECK(found.ok());
  CHECK(std::ranges::any_of(found.outcomes,
                            [&once](auto const& o) { return o.result.text == once; }));
}

process sets_one(int& n) {
  n = 1;
  co_return;
}
/// Forks if sets_one() has run before; then one of the two processes adds 100.
eff<void, proc, spawning<proc>> forks_if_late(int& n) {
  co_await spawn(sets_one, std::ref(n));
  co_await proc::yield{};
  if (n == 0) co_return;
  bool const first = co_await proc::fork{};
  if (!first) n += 100;
}

TEST_CASE("a program that forks in some schedules only has all of them") {
  weft::tests::every_frame_dies const here;
  auto const names = [](int n) { return std::to_string(n); };
  for (unsigned const threads : {1U, 2U}) {
    auto const found = explore({.threads = threads}, [] { return 0; }, forks_if_late, names);
    CHECK(found.ok());
    CHECK(found.complete);
    CHECK(found.schedules == 3);
    REQUIRE(found.outcomes.size() == 2);
    CHECK(found.outcomes[0].result.text == "1");
    CHECK(found.outcomes[0].schedules == 1);
    CHECK(found.outcomes[1].result.text == "101");
    CHECK(found.outcomes[1].schedules == 2);
  }
  auto const some = random_walk({.max_schedules = 50}, [] { return 0; }, forks_if_late, names);
  CHECK(some.ok());
  CHECK(some.schedules == 50);
  CHECK(some.outcomes.size() == 2);
}

TEST_CASE("a child that keeps no log finds that it cannot fork, in every schedule") {
  weft::tests::every_frame_dies const here;
  auto const forks = [](int& n) -> eff<void, proc, spawning<proc>> {
    co_await proc::yield{};
    co_await spawn(forks_and_adds, std::ref(n));
  };
  auto const found = explore([] { return 0; }, forks, [](int) {});
  CHECK(found.schedules == 1);
  CHECK(found.failed == 1);
  REQUIRE(found.first_failure());
  CHECK(found.first_failure()->result.text.find("keeps no log") != std::string::npos);
}
