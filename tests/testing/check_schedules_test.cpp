// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "tests/support/own_directory.hpp"

/// check_schedules: what it finds without an option, what its verdict says, and where it runs.

using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;

using worker = eff<void, syncing>;
using workers = eff<void, spawning<syncing>>;

/// A bounded queue with one condition: notify_one may wake the wrong kind of process.
struct queue {
  mutex m;
  condition changed;
  std::deque<int> all;
};
worker puts(queue& q) {
  for (int i = 0; i != 2; ++i) {
    auto held = co_await q.m.lock();
    while (q.all.size() == 1) co_await q.changed.wait(held);
    q.all.push_back(i);
    q.changed.notify_one();
  }
}
worker gets(queue& q) {
  for (int i = 0; i != 2; ++i) {
    auto held = co_await q.m.lock();
    while (q.all.empty()) co_await q.changed.wait(held);
    q.all.pop_front();
    q.changed.notify_one();
  }
}
workers four_use(std::unique_ptr<queue>& q) {
  for (int i = 0; i != 2; ++i) {
    co_await spawn(puts, std::ref(*q));
    co_await spawn(gets, std::ref(*q));
  }
}
std::unique_ptr<queue> make_queue() { return std::make_unique<queue>(); }
void no_check(std::unique_ptr<queue>&) {}

/// A cache that checks, loads and stores: two processes may load.
struct cache {
  shared<int> value{0};
  int loads = 0;
};
worker looks_up(cache& c) {
  int const there = co_await c.value.get();
  if (there != 0) co_return;
  ++c.loads;
  co_await c.value.set(7);
}
workers two_look_up(std::unique_ptr<cache>& c) {
  for (int i = 0; i != 2; ++i) co_await spawn(looks_up, std::ref(*c));
}
std::unique_ptr<cache> make_cache() { return std::make_unique<cache>(); }
bool is_loaded_once(std::unique_ptr<cache>& c) { return c->loads == 1; }

auto lines_of(std::string const& text) { return std::ranges::count(text, '\n'); }

TEST_CASE("a queue that wakes the wrong process deadlocks, and the report says so first") {
  every_frame_dies const here;
  auto const found = check_schedules({.time = 1min}, make_queue, four_use, no_check);
  CHECK_FALSE(found.ok());
  CHECK(found.deadlocks == 1);
  CHECK(found.schedules <= 100);
  auto const report = found.report();
  CHECK_THAT(report, StartsWith("deadlock in a schedule of several threads with "));
  CHECK(lines_of(report) <= 25);
  REQUIRE(found.first_failure());
  CHECK(follow(found.first_failure()->path.text(), make_queue, four_use, no_check).deadlocks == 1);
}

TEST_CASE("a cache that loads twice is a failure with one preemption") {
  every_frame_dies const here;
  auto const found = check_schedules(make_cache, two_look_up, is_loaded_once);
  CHECK(found.failed == 1);
  CHECK_THAT(found.report(),
             StartsWith("failure in a schedule of several threads with 1 preemption\n"));
  CHECK(lines_of(found.report()) <= 25);
}

worker adds_at_once(shared<int>& n) {
  co_await n.update([](int& value) { ++value; });
}
workers two_add(std::unique_ptr<shared<int>>& n) {
  for (int i = 0; i != 2; ++i) co_await spawn(adds_at_once, std::ref(*n));
}
std::unique_ptr<shared<int>> make_zero() { return std::make_unique<shared<int>>(0); }
void any(std::unique_ptr<shared<int>>&) {}

TEST_CASE("a small program is searched to the end, and the verdict needs no condition") {
  every_frame_dies const here;
  auto const all = explore({.granularity = granularity::parallel}, make_zero, two_add, any);
  auto const found = check_schedules({.time = 1min}, make_zero, two_add, any);
  CHECK(found.ok());
  CHECK(found.complete);
  CHECK_FALSE(found.covered.is_reduced);
  CHECK(found.covered.within == all.schedules);
  CHECK(found.conclusion() == "complete: no failure in any of the " +
                                  std::to_string(all.schedules) + " schedules of several threads");
  CHECK(all.conclusion() == found.conclusion());
}

worker adds_often(std::array<shared<int>, 3>& of, std::size_t mine) {
  for (int i = 0; i != 4; ++i) co_await of.at(mine).update([](int& value) { ++value; });
  co_await of.at(0).get();
}
workers three_add(std::unique_ptr<std::array<shared<int>, 3>>& of) {
  for (std::size_t i = 0; i != 3; ++i) co_await spawn(adds_often, std::ref(*of), i);
}

TEST_CASE(
    "a larger program whose processes share little is complete on the condition that it says") {
  every_frame_dies const here;
  auto const make = [] { return std::make_unique<std::array<shared<int>, 3>>(); };
  auto const found = check_schedules({.time = 60s}, make, three_add, [](auto const&) {});
  CHECK(found.ok());
  CHECK(found.complete);
  CHECK(found.covered.is_reduced);
  CHECK_THAT(found.conclusion(),
             StartsWith("complete, if processes share state by operations only: no failure in any "
                        "of the "));
}

worker adds_in_a_row(shared<int>& n, int times) {
  for (int i = 0; i != times; ++i) co_await n.update([](int& value) { ++value; });
}
workers four_add_in_a_row(std::unique_ptr<shared<int>>& n) {
  for (int i = 0; i != 4; ++i) co_await spawn(adds_in_a_row, std::ref(*n), 20);
}

TEST_CASE("a search that is not complete says which schedules it has visited") {
  every_frame_dies const here;
  auto const found = check_schedules({.time = 200ms}, make_zero, four_add_in_a_row, any);
  CHECK(found.ok());
  CHECK_FALSE(found.complete);
  CHECK(found.schedules >= found.covered.random + found.covered.within);
  auto const says = found.conclusion();
  CHECK_THAT(says, StartsWith("no "));
  if (found.covered.random > 1) CHECK_THAT(says, Contains("random ones"));
  CHECK_THAT(says, EndsWith(": the time was up"));
  if (found.covered.preemptions)
    CHECK_THAT(says, Contains("schedules of several threads with at most " +
                              std::to_string(*found.covered.preemptions) + " preemption"));
  CHECK_THAT(found.report(), StartsWith(says));
}

TEST_CASE("a check in no time visits nothing and says so") {
  every_frame_dies const here;
  auto const found = check_schedules({.time = 0s}, make_queue, four_use, no_check);
  CHECK(found.ok());
  CHECK(found.schedules == 0);
  CHECK_FALSE(found.complete);
  CHECK(found.conclusion() == "no schedule was visited: the time was up");
}

TEST_CASE("explore says in its first line that it has tried the orders of one thread only") {
  every_frame_dies const here;
  auto const found = explore(make_cache, two_look_up, is_loaded_once);
  CHECK(found.ok());
  CHECK_THAT(found.report(),
             StartsWith("complete: no failure in any of the 2 schedules of one thread; those of "
                        "several threads were not tried\n"));
}

TEST_CASE("a program whose functions capture something runs on the calling thread only") {
  std::mutex m;
  std::set<std::thread::id> threads;
  auto const noting = [&](std::unique_ptr<shared<int>>&) {
    std::lock_guard const lock(m);
    threads.insert(std::this_thread::get_id());
  };
  CHECK(check_schedules({.time = 200ms}, make_zero, four_add_in_a_row, noting).ok());
  CHECK(threads == std::set{std::this_thread::get_id()});
}

TEST_CASE("walks run on as many threads as are asked for") {
  auto const is_here = [here = std::this_thread::get_id()](std::unique_ptr<shared<int>>&) {
    return std::this_thread::get_id() == here;
  };
  auto const found = random_walk({.max_schedules = std::numeric_limits<std::size_t>::max(),
                                  .max_shrinking_runs = 0,
                                  .threads = 3},
                                 make_zero, two_add, is_here);
  CHECK(found.failed != 0);  // as soon as another thread has run
}

TEST_CASE("what several threads have found, and one thread does not, is no failure") {
  auto const is_here = [here = std::this_thread::get_id()](std::unique_ptr<shared<int>>&) {
    return std::this_thread::get_id() == here;
  };
  auto const found =
      check_schedules({.time = 300ms, .threads = 3}, make_zero, four_add_in_a_row, is_here);
  CHECK(found.ok());
}

TEST_CASE("walks on several threads visit as many schedules, and find what one thread finds") {
  random_walk_options how{.max_schedules = 300,
                          .granularity = granularity::parallel,
                          .stop_at_failure = false,
                          .threads = 3};
  auto const many = random_walk(how, make_cache, two_look_up, is_loaded_once);
  CHECK(many.schedules == 300);
  CHECK(many.failed != 0);
  CHECK(many.failed != many.schedules);
  CHECK(many.outcomes.size() == 2);
  how.stop_at_failure = true;
  auto const first = random_walk(how, make_cache, two_look_up, is_loaded_once);
  REQUIRE(first.first_failure());
  CHECK(
      follow(first.first_failure()->path.text(), make_cache, two_look_up, is_loaded_once).failed ==
      1);
}

TEST_CASE("a state that cannot be made ends the search, on any number of threads") {
  auto const throws = []() -> std::unique_ptr<shared<int>> {
    throw std::runtime_error("no state");
  };
  for (unsigned const threads : {1U, 3U}) {
    auto const found = check_schedules({.threads = threads}, throws, two_add, any);
    CHECK(found.failed == 1);
    REQUIRE(found.first_failure());
    CHECK(found.first_failure()->result.text == "no state");
  }
}

TEST_CASE("the page of a check shows the failure") {
  tests::own_directory const folder;
  std::string const file = folder.file("page.html");
  auto const found = check_schedules({.page = file}, make_cache, two_look_up, is_loaded_once);
  CHECK(found.page == file);
  CHECK(std::ifstream(file).good());
}

eff<void, proc> appends(std::string& to, char c) {
  for (int i = 0; i != 3; ++i) {
    to += c;
    co_await proc::yield{};
  }
}
eff<void, proc> goes_on_if(std::string const& seen) {
  if (seen != "bbbccc") co_return;
  for (int i = 0; i != 300; ++i) co_await proc::yield{};
}
eff<void, spawning<proc>> appended(std::string& to) {
  co_await spawn(appends, std::ref(to), 'b');
  co_await spawn(appends, std::ref(to), 'c');
  co_await spawn(goes_on_if, std::cref(to));
}

TEST_CASE("a search is not complete if a schedule was cut, under whichever bound") {
  every_frame_dies const here;
  auto const found = check_schedules(
      {.time = 500ms, .max_steps = 200}, [] { return std::string(); }, appended,
      [](std::string&) {});
  CHECK(found.ok());
  CHECK_FALSE(found.complete);
  CHECK((found.cut != 0 || found.schedules < 1000));  // it comes early, but the time is short
  if (found.cut != 0) CHECK_THAT(found.conclusion(), Contains(" cut at max_steps"));
}

TEST_CASE("a check without a limit of time ends if all schedules are visited") {
  auto const found =
      check_schedules({.time = std::chrono::nanoseconds::max()}, make_zero, two_add, any);
  CHECK(found.complete);
}

struct two_mutexes {
  mutex a, b;
  int seen = 0;
};
worker holds_both(two_mutexes& w) {
  {
    auto const one = co_await w.a.lock();
    auto const two = co_await w.b.lock();
  }
  co_await syncing::touch{&w, true};
}
worker looks_at_both(two_mutexes& w) {
  for (int i = 0; i != 2; ++i) {
    auto const one = co_await w.a.try_lock();
    auto const two = co_await w.b.try_lock();
    if (i == 0 && (one || two)) co_return;
    if (one && two) ++w.seen;
  }
}

TEST_CASE("the story of a schedule has each event that another process came before") {
  every_frame_dies const here;
  auto const found = check_schedules([] { return std::make_unique<two_mutexes>(); },
                                     [](std::unique_ptr<two_mutexes>& w) -> workers {
                                       co_await spawn(holds_both, std::ref(*w));
                                       co_await spawn(looks_at_both, std::ref(*w));
                                     },
                                     [](std::unique_ptr<two_mutexes>& w) { return w->seen == 0; });
  REQUIRE(found.first_failure());
  CHECK_THAT(found.report(), Contains("1.1 (holds_both): an unlock takes effect (2 times)"));
}
