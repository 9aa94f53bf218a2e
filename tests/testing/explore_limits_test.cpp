// SPDX-License-Identifier: MIT
#include <unistd.h>

#include "tests/prelude.hpp"
#include "tests/support/every_run.hpp"

/// The limits of explore and random_walk, and what they report when they stop at one.

TEST_CASE("a search visits at most max_schedules schedules, and is incomplete if there are more") {
  every_frame_dies const here;
  auto const program = independent({3, 3});  // 20 schedules
  for (std::size_t most : {0U, 1U, 7U, 19U}) {
    auto const found = explore({.max_schedules = most}, no_order, program, the_order);
    CHECK(found.schedules == most);
    CHECK(found.outcomes.size() == most);
    CHECK(found.ok());
    CHECK_FALSE(found.complete);
  }
  for (std::size_t most : {20U, 21U}) {
    auto const found = explore({.max_schedules = most}, no_order, program, the_order);
    CHECK(found.schedules == 20);
    CHECK(found.complete);
  }
}

int zero() { return 0; }
bool fine(int) { return true; }

eff<void, proc> throws_late() {
  co_await proc::yield{};
  throw std::runtime_error("late");
}
eff<void, spawning<proc>> three_throw(int&) {
  for (int i = 0; i != 3; ++i) co_await spawn(throws_late);
}

TEST_CASE("bounded and reduced searches and random walks keep to max_schedules, too") {
  every_frame_dies const here;
  auto const program = independent({3, 3});
  auto const bounded =
      explore({.max_schedules = 7, .max_preemptions = 9}, no_order, program, the_order);
  CHECK(bounded.schedules == 7);
  CHECK_FALSE(bounded.complete);
  auto const reduced = explore({.max_schedules = 1, .reduce = true}, zero, three_throw, fine);
  CHECK(reduced.schedules == 1);
  CHECK_FALSE(reduced.complete);
  auto const more = explore({.reduce = true}, zero, three_throw, fine);
  CHECK(more.schedules > 1);
  CHECK(more.complete);
  auto const walked = random_walk({.max_schedules = 7}, no_order, program, the_order);
  CHECK(walked.schedules == 7);
  CHECK_FALSE(walked.complete);
}

/// Ends if the other process runs first, otherwise never.
eff<void, proc> spins(int const& flag) {
  int const seen = flag;
  while (seen == 0) co_await proc::yield{};
}
eff<void, proc> sets(int& flag) {
  flag = 1;
  co_return;
}
eff<void, spawning<proc>> spins_on_what_it_read(int& flag) {
  co_await spawn(spins, std::cref(flag));
  co_await spawn(sets, std::ref(flag));
}

TEST_CASE("a schedule of more than max_steps steps is cut: the search is ok, but not complete") {
  every_frame_dies const here;
  auto const found = explore({.max_steps = 30}, zero, spins_on_what_it_read, fine);
  CHECK(found.ok());
  CHECK_FALSE(found.complete);
  CHECK(found.cut != 0);
  CHECK(found.cut < found.schedules);  // in some schedules the flag is set first
  CHECK(found.first_failure() == nullptr);
  CHECK(found.failed + found.deadlocks == 0);
  for (auto const& o : found.outcomes) {
    CHECK_FALSE(o.is_wrong());
    if (o.result.verdict == verdict::cut) CHECK(o.trace.size() == 30);
  }
  auto const report = found.report();
  CHECK(report.find(std::to_string(found.cut) + " cut, not all there are") != report.npos);
}

TEST_CASE("as many steps as a program takes are enough, and one less is not") {
  every_frame_dies const here;
  auto const program = independent({2, 3});  // and the step that spawns the two processes
  CHECK(explore({.max_steps = 6}, no_order, program, the_order).complete);
  auto const found = explore({.max_steps = 5}, no_order, program, the_order);
  CHECK(found.cut == found.schedules);
  CHECK(found.ok());
  CHECK_FALSE(found.complete);
}

eff<void, proc> yields_for_ever() {
  for (;;) co_await proc::yield{};
}
eff<void, spawning<proc>> two_without_end(int&) {
  co_await spawn(yields_for_ever);
  co_await spawn(yields_for_ever);
}

TEST_CASE("bounded and reduced searches and random walks cut schedules that are too long, too") {
  every_frame_dies const here;
  auto const bounded =
      explore({.max_steps = 20, .max_preemptions = 1}, zero, two_without_end, fine);
  auto const reduced = explore({.max_steps = 20, .reduce = true}, zero, two_without_end, fine);
  auto const walked =
      random_walk({.max_schedules = 10, .max_steps = 20}, zero, two_without_end, fine);
  for (auto const& found : {bounded, reduced, walked}) {
    CHECK(found.ok());
    CHECK(found.cut == found.schedules);
    CHECK(found.cut != 0);
    CHECK_FALSE(found.complete);
  }
}

/// A lost update in 4 of 6 schedules.
eff<void, proc> increment(int& n) {
  int const seen = n;
  co_await proc::yield{};
  n = seen + 1;
}
eff<void, spawning<proc>> two_increments(int& n) {
  co_await spawn(increment, std::ref(n));
  co_await spawn(increment, std::ref(n));
}
bool is_two(int n) { return n == 2; }

TEST_CASE("a search with no time visits nothing and is not complete") {
  every_frame_dies const here;
  auto const none = std::chrono::nanoseconds(0);
  auto const found = explore({.max_time = none}, zero, two_increments, is_two);
  CHECK(found.schedules == 0);
  CHECK(found.ok());
  CHECK_FALSE(found.complete);
  CHECK(random_walk({.max_time = none}, zero, two_increments, is_two).schedules == 0);
}

TEST_CASE("a search that would outlast a lifetime ends when its time is up") {
  every_frame_dies const here;
  auto const some = std::chrono::milliseconds(5);
  auto const most = static_cast<std::size_t>(-1);
  auto const options =
      GENERATE_COPY(explore_options{.max_steps = 200, .max_time = some},
                    explore_options{.max_steps = 200, .max_time = some, .max_preemptions = most});
  auto const found = explore(options, zero, two_without_end, fine);
  CHECK_FALSE(found.complete);
  CHECK(found.ok());
  auto const walked = random_walk({.max_schedules = most, .max_steps = 200, .max_time = some}, zero,
                                  two_without_end, fine);
  CHECK_FALSE(walked.complete);
  CHECK(walked.ok());
}

TEST_CASE(
    "a search stops at the first failure if it is told to, and visits all schedules otherwise") {
  every_frame_dies const here;
  auto const all = explore(zero, two_increments, is_two);
  CHECK(all.schedules == 6);
  CHECK(all.failed == 4);
  CHECK(all.complete);
  for (bool const reduce : {false, true})
    for (bool const bounded : {false, true}) {
      if (reduce && bounded) continue;
      explore_options options{.reduce = reduce, .stop_at_failure = true};
      if (bounded) options.max_preemptions = 5;
      auto const found = explore(options, zero, three_throw, fine);
      CHECK(found.failed == 1);
      CHECK_FALSE(found.complete);
    }
  auto const one = explore({.stop_at_failure = true}, zero, two_increments, is_two);
  CHECK(one.failed == 1);
  CHECK(one.schedules == 2);  // the very first schedule is right
  CHECK_FALSE(one.complete);
}

TEST_CASE("a reduction under a bound is refused") {
  CHECK_THROWS_AS(explore({.max_preemptions = 3, .reduce = true}, zero, two_increments, is_two),
                  std::invalid_argument);
}

// ---- progress reports

/// Redirects the standard error stream into a file.
class caught {
 public:
  caught() {
    std::fflush(stderr);
    before_ = ::dup(2);
    ::dup2(::fileno(file_), 2);
  }
  caught(caught const&) = delete;
  caught& operator=(caught const&) = delete;
  ~caught() {
    if (before_ != -1) static_cast<void>(text());
    std::fclose(file_);
  }
  /// Ends the redirection and returns the text.
  std::string text() {
    std::fflush(stderr);
    ::dup2(before_, 2);
    ::close(before_);
    before_ = -1;
    std::rewind(file_);
    std::string s;
    for (int c; (c = std::fgetc(file_)) != EOF;) s += static_cast<char>(c);
    return s;
  }

 private:
  std::FILE* file_ = std::tmpfile();
  int before_ = -1;
};

std::string said(progress p, unsigned threads = 1) {
  caught c;
  explore({.progress = p, .threads = threads}, zero, two_increments, is_two);
  return c.text();
}

TEST_CASE("a search that reports its progress prints one line, which ends with the result") {
  std::string const text = said(progress::always);
  CHECK(std::count(text.begin(), text.end(), '\n') == 1);
  CHECK_THAT(text, Catch::StartsWith("\rweft: 6 schedules, "));
  CHECK_THAT(text, Catch::EndsWith(" a second, 4 failed, 0 deadlocks\n"));
  std::string const of_two = said(progress::always, 2);
  CHECK(std::count(of_two.begin(), of_two.end(), '\n') == 1);
  CHECK_THAT(of_two, Catch::EndsWith(" a second, 4 failed, 0 deadlocks\n"));
  caught c;
  random_walk({.max_schedules = 40, .stop_at_failure = false, .progress = progress::always}, zero,
              two_increments, is_two);
  CHECK_THAT(c.text(), Catch::StartsWith("\rweft: 40 schedules, "));
}

TEST_CASE("a search prints no progress if it is told not to, or if stderr is no terminal") {
  CHECK(said(progress::never).empty());
  CHECK(said(progress::on_terminal).empty());  // a file is no terminal
}

// ---- bounds

TEST_CASE(
    "a bounded search visits the schedules within its bound, and is complete if these are all") {
  every_frame_dies const here;
  seeds(60).for_each([](unsigned seed) {
    dice d(seed);
    auto const p = draw_small_program(d);
    auto const all = every_run(make_small_world, running(p), number, 1'000);
    if (all.size() > 1'000) return;
    INFO("seed " << seed);
    std::size_t most = 0;
    for (auto const& r : all) most = std::max(most, r.preemptions);
    std::set<std::string> before;
    for (std::size_t bound = 0; bound <= most + 1; ++bound) {
      auto const found = explore({.max_preemptions = bound, .max_shrinking_runs = 0},
                                 make_small_world, running(p), number);
      std::size_t expected = 0;
      std::set<std::string> texts;
      for (auto const& r : all)
        if (r.preemptions <= bound) {
          ++expected;
          texts.insert(r.result.text);
        }
      CHECK(found.schedules == expected);
      CHECK(found.complete == (bound >= most));
      CHECK_FALSE(found.nondeterminism);
      std::set<std::string> seen;
      for (auto const& o : found.outcomes) {
        seen.insert(o.result.text);
        CHECK(o.preemptions == fewest_preemptions(all, o.result));
      }
      CHECK(seen == texts);
      CHECK(std::ranges::includes(seen, before));
      before = seen;
    }
    CHECK(explore(make_small_world, running(p), number).schedules == all.size());
  });
}

TEST_CASE("the first failure within a bound has as few preemptions as possible") {
  every_frame_dies const here;
  unsigned compared = 0;
  seeds const some(150);
  some.for_each([&](unsigned seed) {
    dice d(seed);
    auto const p = draw_small_program(d);
    auto const all = every_run(make_small_world, running(p), number, 1'000);
    if (all.size() > 1'000) return;
    std::size_t fewest = static_cast<std::size_t>(-1);
    for (auto const& r : all)
      if (r.result.verdict != verdict::ok) fewest = std::min(fewest, r.preemptions);
    auto const found =
        explore({.max_preemptions = 100, .stop_at_failure = true, .max_shrinking_runs = 0},
                make_small_world, running(p), number);
    INFO("seed " << seed);
    CHECK((found.first_failure() == nullptr) == (fewest == static_cast<std::size_t>(-1)));
    if (!found.first_failure()) return;
    CHECK(found.first_failure()->preemptions == fewest);
    compared += fewest != 0;
  });
  CHECK((some.only_some() || compared > 5));
}
