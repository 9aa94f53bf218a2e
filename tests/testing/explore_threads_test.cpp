// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "tests/support/every_run.hpp"
#include "tests/support/random_programs/dialect.hpp"
#include "tests/support/random_programs/dialects.hpp"
#include "tests/support/reduced_searches.hpp"
#include "tests/support/searches_on_threads.hpp"

/// explore on several threads has the result of explore on one.

TEST_CASE("several threads count the schedules and the outcomes that one thread counts") {
  auto const found = same_on_threads({}, zero, counters(3, 2), the_number);
  CHECK(found.schedules == 1680);
  CHECK(found.complete);
  CHECK(found.outcomes.size() == 5);
}

TEST_CASE("the first failure on several threads is that of one thread, shrunk to the same") {
  for (int const wrong : {2, 3, 4, 5, 6})
    for (bool const stops : {false, true})
      same_on_threads({.stop_at_failure = stops}, zero, counters(2, 4),
                      [wrong](int n) { return n != wrong; });
}

TEST_CASE("several threads visit the first max_schedules schedules") {
  for (std::size_t const most : {0U, 1U, 2U, 69U, 500U, 1679U, 1680U, 1681U}) {
    auto const found = same_on_threads({.max_schedules = most}, zero, counters(3, 2), the_number);
    CHECK(found.schedules == std::min<std::size_t>(most, 1680));
    CHECK(found.complete == (most >= 1680));
  }
}

TEST_CASE("several threads visit schedules by their preemptions") {
  for (std::size_t const preemptions : {0U, 1U, 2U, 20U})
    for (std::size_t const most : {5U, 100U, 100'000U})
      same_on_threads({.max_schedules = most, .max_preemptions = preemptions}, zero, counters(3, 2),
                      [](int n) { return n >= 3; });
}

TEST_CASE("several threads cut the schedules that one thread cuts") {
  auto const found = same_on_threads({.max_steps = 7}, zero, counters(2, 4), the_number);
  CHECK(found.cut != 0);
  CHECK(!found.complete);
}

/// Processes that ask twice, of which the handler decides each answer.
exploration ask_twice(explore_options const& o, int processes) {
  return explore(
      o, [] { return std::string(); },
      [processes](std::string& s) -> eff<void, spawning<proc, ask>> {
        auto const asks = [](std::string& to) -> eff<void, proc, ask> {
          to += std::to_string(co_await ask::get{});
          co_await proc::yield{};
          to += std::to_string(co_await ask::get{});
        };
        for (int i = 0; i != processes; ++i) co_await spawn(asks, std::ref(s));
      },
      [](std::string const& s) { return s; },
      [](std::string&) {
        struct drawn {
          int on(ask::get) { return static_cast<int>(decide(3)); }
        };
        return drawn();
      });
}

TEST_CASE("several threads take every way of every decision") {
  auto const found = same_on_threads({}, [](explore_options const& o) { return ask_twice(o, 2); });
  CHECK(found.schedules == 6 * 81);
  CHECK(found.outcomes.size() == 81);
}

eff<void, proc, syncing> takes_both(mutex& first, mutex& second) {
  auto const one = co_await first.lock();
  co_await proc::yield{};
  auto const two = co_await second.lock();
  co_await proc::yield{};
}

TEST_CASE("several threads find the deadlocks that one thread finds") {
  struct two {
    mutex a, b;
  };
  for (auto const grain : {granularity::cooperative, granularity::parallel}) {
    auto const found = same_on_threads(
        {.granularity = grain}, [] { return std::make_unique<two>(); },
        [](std::unique_ptr<two>& w) -> eff<void, spawning<proc, syncing>> {
          co_await spawn(takes_both, std::ref(w->a), std::ref(w->b));
          co_await spawn(takes_both, std::ref(w->b), std::ref(w->a));
        },
        [](std::unique_ptr<two> const&) {});
    CHECK(found.deadlocks != 0);
  }
}

TEST_CASE("an exception of a process is an outcome on several threads, too") {
  auto const found = same_on_threads(
      {}, zero,
      [](int& n) -> eff<void, spawning<proc>> {
        auto const fails = [](int& to) -> eff<void, proc> {
          co_await increments(to, 3);
          if (to == 3) throw std::runtime_error("three");
        };
        co_await spawn(fails, std::ref(n));
        co_await spawn(fails, std::ref(n));
      },
      [](int) {});
  CHECK(found.failed != 0);
}

TEST_CASE("on random programs several threads have the result of one") {
  seeds(60).for_each([](unsigned seed) {
    dice d(seed);
    auto const p = draw_small_program(d);
    for (bool const stops : {false, true})
      same_on_threads({.max_schedules = 300, .stop_at_failure = stops}, make_small_world,
                      running(p), number);
  });
}

TEST_CASE("on random programs with handlers several threads have the result of one") {
  seeds(15).for_each([](unsigned seed) {
    auto const l = random_program(seed, schedule_dialect(3));
    same_on_threads({.max_schedules = 500, .max_steps = 300, .max_shrinking_runs = 0},
                    [&l](explore_options const& o) { return explored(o, l); });
  });
}

TEST_CASE("several threads reduce to the outcomes that one thread finds, however many there are") {
  std::size_t by_one = 0, by_several = 0;
  auto const compares = [&](granularity grain, unsigned most_acts, std::size_t most) {
    return [&, grain, most_acts, most](unsigned seed) {
      auto const l = random_program(seed, schedule_dialect(most_acts));
      explore_options o{.max_schedules = most,
                        .max_steps = 300,
                        .granularity = grain,
                        .reduce = true,
                        .max_shrinking_runs = 0,
                        .progress = progress::never};
      auto const one = explored(o, l);
      auto const two = (o.threads = 2, explored(o, l));
      auto const three = (o.threads = 3, explored(o, l));
      CHECK(all_of(two) == all_of(three));
      CHECK(!two.nondeterminism);
      if (!one.complete || !two.complete) return;
      CHECK(outcomes_of(two) == outcomes_of(one));
      by_one += one.schedules + one.redundant;
      by_several += two.schedules + two.redundant;
    };
  };
  seeds(60).for_each(compares(granularity::cooperative, 4, 5'000));
  seeds(30).for_each(compares(granularity::parallel, 2, 20'000));
  CHECK(by_several < 3 * by_one);
}

TEST_CASE("the limits of a reduced search are those of its schedules, on several threads, too") {
  struct two {
    mutex a, b;
  };
  for (std::size_t const most : {1U, 2U, 3U, 1'000U})
    for (bool const stops : {false, true}) {
      explore_options o{.max_schedules = most,
                        .granularity = granularity::parallel,
                        .reduce = true,
                        .stop_at_failure = stops,
                        .progress = progress::never,
                        .threads = 2};
      auto const search = [&] {
        return explore(
            o, [] { return std::make_unique<two>(); },
            [](std::unique_ptr<two>& w) -> eff<void, spawning<proc, syncing>> {
              co_await spawn(takes_both, std::ref(w->a), std::ref(w->b));
              co_await spawn(takes_both, std::ref(w->b), std::ref(w->a));
            },
            [](std::unique_ptr<two> const&) {});
      };
      auto const by_two = search();
      o.threads = 4;
      CHECK(all_of(by_two) == all_of(search()));
      CHECK(by_two.schedules <= most);
      CHECK(by_two.complete == (most == 1'000 && !stops));
      CHECK((by_two.deadlocks != 0) == (most == 1'000));
    }
}

TEST_CASE("several threads do not try all orders of many independent processes") {
  auto const found = explore({.reduce = true, .progress = progress::never, .threads = 2}, zero,
                             counters(20, 6), the_number);
  CHECK(found.complete);
  CHECK(found.schedules + found.redundant <= 64);
}

TEST_CASE("a decision in a reduced search is taken in every way, on several threads, too") {
  for (int const processes : {1, 2}) {
    explore_options o{.reduce = true, .progress = progress::never};
    auto const one = ask_twice(o, processes);
    auto const two = (o.threads = 2, ask_twice(o, processes));
    auto const four = (o.threads = 4, ask_twice(o, processes));
    CHECK(all_of(two) == all_of(four));
    CHECK(outcomes_of(two) == outcomes_of(one));
    CHECK(one.outcomes.size() == (processes == 1 ? 9 : 81));
  }
}

TEST_CASE(".threads = 0 takes as many threads as the machine has") {
  auto const found = explore({.threads = 0}, zero, counters(2, 3), the_number);
  CHECK(found.schedules == 70);
}

TEST_CASE("several threads report a program that depends on more than its schedule") {
  every_frame_dies const here;
  std::atomic<int> runs = 0;
  auto const found = explore(
      {.progress = progress::never, .threads = 2}, [&runs] { return ++runs; },
      [](int& n) -> eff<void, spawning<proc>> {
        for (int i = 0; i != 2 + n % 2; ++i) co_await spawn(increments, std::ref(n), 1);
      },
      [](int) { return true; });
  CHECK(found.nondeterminism);
  CHECK(!found.complete);
  CHECK(!found.what_differed.empty());
}

TEST_CASE("when the time is up, several threads end") {
  every_frame_dies const here;
  auto const found =
      explore({.max_time = std::chrono::milliseconds(5), .progress = progress::never, .threads = 3},
              zero, counters(4, 6), the_number);
  CHECK(!found.complete);
  CHECK(found.failed == 0);
}

TEST_CASE("what make_state throws is an outcome on each thread") {
  same_on_threads(
      {}, []() -> int { throw std::runtime_error("no state"); }, counters(2, 2),
      [](int) { return true; });
}
