// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"

/// Processes that spin: no search hangs, and a program that makes no progress is a failure.

using Catch::Matchers::StartsWith;

using spinner = eff<void, syncing, proc>;
using spinners = eff<void, spawning<syncing, proc>>;
using flag = std::unique_ptr<shared<int>>;
flag lowered() { return std::make_unique<shared<int>>(0); }
void any(flag&) {}

spinner raises(shared<int>& up) { co_await up.set(1); }
/// A loop that ends no step on one thread.
spinner polls(shared<int>& up) {
  for (;;) {
    int const is_up = co_await up.get();
    if (is_up != 0) break;
  }
}
/// A loop of two places.
spinner polls_and_yields(shared<int>& up) {
  for (;;) {
    int const is_up = co_await up.get();
    if (is_up != 0) break;
    co_await proc::yield{};
  }
}
template <spinner (*Waits)(shared<int>&), int N, bool IsRaised = true>
spinners waiting(flag& up) {
  for (int i = 0; i != N; ++i) co_await spawn(Waits, std::ref(*up));
  if (IsRaised) co_await spawn(raises, std::ref(*up));
}
auto const parallel = granularity::parallel;

TEST_CASE("a loop of operations that end no step is cut at max_steps, by each search") {
  every_frame_dies const here;
  for (bool const reduce : {false, true}) {
    auto const found =
        explore({.max_steps = 100, .reduce = reduce}, lowered, waiting<polls, 1>, any);
    CHECK(found.cut != 0);
    CHECK_FALSE(found.complete);
  }
  auto const walked =
      random_walk({.max_steps = 100, .max_time = 1s}, lowered, waiting<polls, 1>, any);
  CHECK(walked.cut != 0);
}

void is_left_to_spin(exploration const& found) {
  CHECK(found.ok());
  CHECK(found.cut == 0);
  CHECK_FALSE(found.complete);
  CHECK(found.covered.leaves_spins);
  CHECK_THAT(found.conclusion(), Contains("a process that spins lets the others go first"));
}

TEST_CASE("a process that spins lets another one go first, so a search ends, and is not complete") {
  every_frame_dies const here;
  auto const plainly = [](bool& up) -> eff<void, spawning<proc>> {
    co_await spawn(
        [](bool const& is_up) -> eff<void, proc> {
          while (!is_up) co_await proc::yield{};
        },
        std::cref(up));
    co_await spawn(
        [](bool& is_up) -> eff<void> {
          is_up = true;
          co_return;
        },
        std::ref(up));
  };
  auto const is_lowered = [] { return false; };
  auto const found = explore(is_lowered, plainly, [](bool&) {});
  is_left_to_spin(found);
  CHECK(found.schedules > 100);
  is_left_to_spin(explore({.max_preemptions = 1}, is_lowered, plainly, [](bool&) {}));
  auto const reduced = [](auto const& program) {
    return explore({.granularity = parallel, .reduce = true}, lowered, program, any);
  };
  is_left_to_spin(reduced(waiting<polls, 1>));
  is_left_to_spin(reduced(waiting<polls, 2>));
  is_left_to_spin(reduced(waiting<polls_and_yields, 1>));
}

TEST_CASE("no schedule is cut in which a process that spins would be woken by another one") {
  every_frame_dies const here;
  auto const each = [](auto const& program) {
    for (walk_strategy const by : {walk_strategy::uniform, walk_strategy::weighted,
                                   walk_strategy::pct, walk_strategy::portfolio})
      CHECK(random_walk({.by = by, .max_schedules = 200, .granularity = parallel}, lowered, program,
                        any)
                .cut == 0);
    auto const found = check_schedules({.time = 300ms}, lowered, program, any);
    CHECK(found.cut == 0);
    CHECK(found.ok());
  };
  each(waiting<polls, 2>);
  each(waiting<polls_and_yields, 2>);
}

TEST_CASE("processes that wait for what never comes make no progress") {
  every_frame_dies const here;
  auto const is_found = [](exploration const& found) {
    CHECK_FALSE(found.ok());
    CHECK(found.livelocks != 0);
    CHECK(found.failed + found.deadlocks == 0);
    REQUIRE(found.first_failure());
    CHECK(found.first_failure()->result.verdict == verdict::no_progress);
    auto const report = found.report();
    CHECK_THAT(report, StartsWith("livelock in a schedule of "));
    CHECK_THAT(report, Contains("each process came to the same places again and again"));
    CHECK_THAT(report, Contains("process 1.1 (polls_and_yields #1): weft::proc::yield at "
                                "tests/testing/spinning_test.cpp:"));
  };
  auto const never = waiting<polls_and_yields, 2, false>;
  is_found(explore({.max_schedules = 3, .max_steps = 1000}, lowered, never, any));
  is_found(
      explore({.max_steps = 1000, .reduce = true, .stop_at_failure = true}, lowered, never, any));
  is_found(explore({.max_steps = 1000, .max_preemptions = 1, .stop_at_failure = true}, lowered,
                   never, any));
  is_found(random_walk({.max_steps = 1000}, lowered, never, any));
  is_found(check_schedules({.max_steps = 1000}, lowered, never, any));
}

/// Counts where nobody sees it.
spinner counts(int times) {
  for (int i = 0; i != times; ++i) co_await proc::yield{};
}
spinner counts_and_tells(shared<int>& n, int times) {
  for (int i = 0; i != times; ++i) co_await n.set(i);
}

TEST_CASE("a schedule that ends after its cut, or in which something changes, is no livelock") {
  every_frame_dies const here;
  auto const found = explore(
      {.max_steps = 1000}, lowered, [](flag&) -> spinners { co_await spawn(counts, 1500); }, any);
  CHECK(found.ok());
  CHECK(found.cut == 1);
  CHECK(found.livelocks == 0);
  auto const tells = explore(
      {.max_steps = 1000, .granularity = parallel}, lowered,
      [](flag& n) -> spinners { co_await spawn(counts_and_tells, std::ref(*n), 10'000); }, any);
  CHECK(tells.ok());
  CHECK(tells.cut == 1);
  CHECK(tells.livelocks == 0);
}

TEST_CASE(
    "a cut schedule in which something changes does not say that nothing does, found or followed") {
  every_frame_dies const here;
  auto const make = [](flag& n) -> spinners {
    co_await spawn(counts_and_tells, std::ref(*n), 10'000);
  };
  auto const found = explore({.max_steps = 100, .granularity = parallel}, lowered, make, any);
  REQUIRE(found.outcomes.size() == 1);
  auto const again = follow(found.outcomes.front().path.text(), lowered, make, any);
  for (auto const& cut : {found, again}) {
    CHECK(cut.outcomes.front().last_change >= 98);
    CHECK_THAT(cut.report(),
               Contains("the last 50 of its 100 steps") && !Contains("no operation changes"));
  }
}

TEST_CASE("a schedule in which one process never runs is unfair, and no livelock") {
  every_frame_dies const here;
  auto const found = random_walk({.max_schedules = 50, .max_steps = 1000}, lowered,
                                 waiting<polls_and_yields, 1>, any);
  CHECK(found.ok());
  CHECK(found.livelocks == 0);
}

TEST_CASE("a schedule that was cut can be followed to where it was cut") {
  every_frame_dies const here;
  auto const never = waiting<polls_and_yields, 2, false>;
  for (std::size_t const steps : {50U, 1000U}) {
    auto const found = explore({.max_schedules = 1, .max_steps = steps}, lowered, never, any);
    REQUIRE(found.outcomes.size() == 1);
    auto const& o = found.outcomes.front();
    CHECK(o.trace.size() == steps);
    auto const again = follow(o.path.text(), lowered, never, any);
    CHECK_FALSE(again.nondeterminism);
    CHECK(again.cut == 1);
    REQUIRE(again.outcomes.size() == 1);
    CHECK(again.outcomes.front().trace.size() == steps);
    CHECK(again.outcomes.front().path == o.path);
    CHECK(again.outcomes.front().last_change == o.last_change);
  }
}

TEST_CASE("the report of a search with cut schedules shows the loop of one") {
  every_frame_dies const here;
  auto const found = explore({.max_schedules = 1, .max_steps = 60}, lowered,
                             waiting<polls_and_yields, 2, false>, any);
  CHECK(found.ok());
  CHECK_THAT(found.report(), Contains("a schedule that was cut\nthe last 30 of its 60 steps:\n"));
  CHECK_THAT(found.report(), Contains("process 1.1 (polls_and_yields): weft::proc::yield at "));
  CHECK_THAT(found.report(), Contains(" times)\n"));
}

TEST_CASE("a livelock that is followed is a livelock") {
  every_frame_dies const here;
  auto const never = waiting<polls_and_yields, 2, false>;
  auto const found = explore({.max_schedules = 1, .max_steps = 1000}, lowered, never, any);
  REQUIRE(found.first_failure());
  auto const again = follow(found.first_failure()->path.text(), lowered, never, any);
  CHECK(again.livelocks == 1);
  CHECK_FALSE(again.ok());
}

using sleeper = eff<void, syncing, timing, proc>;
using sleepers = eff<void, spawning<syncing, timing, proc>>;
sleeper raises_later(shared<int>& up) {
  co_await timing::sleep_for(1ms);
  co_await up.set(1);
}
sleeper polls_meanwhile(shared<int>& up) {
  for (;;) {
    int const is_up = co_await up.get();
    if (is_up != 0) break;
    co_await proc::yield{};
  }
}
sleeper looks_at_the_clock() {
  auto const end = co_await timing::now{} + 1ms;
  for (;;) {
    auto const now = co_await timing::now{};
    if (now >= end) break;
    co_await proc::yield{};
  }
}

TEST_CASE(
    "a process that waits for time to pass, which stands still while it runs, is no livelock") {
  every_frame_dies const here;
  auto const polls = explore(
      {.max_schedules = 5, .max_steps = 1000}, lowered,
      [](flag& up) -> sleepers {
        co_await spawn(polls_meanwhile, std::ref(*up));
        co_await spawn(raises_later, std::ref(*up));
      },
      any);
  CHECK(polls.cut != 0);
  CHECK(polls.livelocks == 0);
  auto const looks = explore(
      {.max_schedules = 5, .max_steps = 1000}, lowered,
      [](flag&) -> sleepers { co_await spawn(looks_at_the_clock); }, any);
  CHECK(looks.cut != 0);
  CHECK(looks.livelocks == 0);
}

spinner reads_before(shared<int>& value, bool& was_there) {
  int const there = co_await value.get();
  was_there = there != 0;
  for (int i = 0; i != 60; ++i) co_await value.get();
}
spinner writes_late(shared<int>& other, shared<int>& value) {
  for (int i = 0; i != 300; ++i) co_await other.set(i);
  co_await value.set(1);
}
struct two_values {
  shared<int> value{0}, other{0};
  bool was_there = false;
};
spinners reads_and_writes(std::unique_ptr<two_values>& w) {
  co_await spawn(reads_before, std::ref(w->value), std::ref(w->was_there));
  co_await spawn(writes_late, std::ref(w->other), std::ref(w->value));
}

TEST_CASE("a long loop that is taken for a spin makes no search complete that misses a failure") {
  every_frame_dies const here;
  auto const make = [] { return std::make_unique<two_values>(); };
  auto const was_not = [](std::unique_ptr<two_values>& w) { return !w->was_there; };
  auto const reduced =
      explore({.granularity = parallel, .reduce = true}, make, reads_and_writes, was_not);
  CHECK((reduced.failed != 0 || !reduced.complete));
  CHECK(check_schedules(make, reads_and_writes, was_not).failed == 1);
  auto const bounded =
      explore({.max_preemptions = 0, .granularity = parallel}, make, reads_and_writes, was_not);
  CHECK((bounded.failed != 0 || !bounded.covered.preemptions));
}

spinner counts_eighty(int& n) {
  for (int i = 0; i != 80; ++i) {
    ++n;
    co_await proc::yield{};
  }
}
spinner comes_after(int const& n, bool& came_after) {
  came_after = n == 80;
  for (int i = 0; i != 80; ++i) co_await proc::yield{};
}
struct in_order {
  int n = 0;
  bool came_after = false;
};

TEST_CASE("a loop of eighty yields is no spin: one process after the other has no preemption") {
  every_frame_dies const here;
  auto const found =
      check_schedules([] { return in_order(); },
                      [](in_order& w) -> spinners {
                        co_await spawn(counts_eighty, std::ref(w.n));
                        co_await spawn(comes_after, std::cref(w.n), std::ref(w.came_after));
                      },
                      [](in_order& w) { return !w.came_after; });
  REQUIRE(found.failed == 1);
  CHECK(found.first_failure()->preemptions == 0);
}

/// Decides until it is told to stop, within one step.
struct gambler : handler<reader<int>> {
  [[nodiscard]] int on(reader<int>::ask const&) const {
    int tries = 0;
    while (decide(2) == 0) ++tries;
    return tries;
  }
};
eff<void, reader<int>> asks() { co_await reader<int>::ask{}; }

TEST_CASE("a step that decides for ever is cut") {
  auto const found = explore(
      {.max_schedules = 3, .max_time = 10s}, lowered, [](flag&) { return asks(); }, any,
      [](flag&) { return gambler(); });
  CHECK(found.schedules == 3);
  CHECK(found.cut != 0);
  CHECK_FALSE(found.nondeterminism);
}
