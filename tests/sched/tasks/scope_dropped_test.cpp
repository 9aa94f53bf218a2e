// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "tests/support/dropping.hpp"
#include "tests/support/last_words.hpp"

/// Handlers that drop a resumption across an open scope: the caller of `handle` continues when the
/// tasks have ended, which may borrow objects outside of the scope.

using namespace weft::tests::dropping;
using dropping::ask;
using dropping::asks;

TEST_CASE("the caller of handle continues when the tasks of a dropped resumption have ended") {
  is_waited_for(place_of<on_one_thread>("alone"));
  is_waited_for(place_of<in_random_order>("by_random"));
}

TEST_CASE("a scheduler that is destroyed after any step of a dropped resumption leaks nothing") {
  for (way const& how : ways) {
    CAPTURE(how.name);
    for (int steps = 0;; ++steps) {
      CAPTURE(steps);
      every_frame_dies const check;
      seen s;
      bool is_over = false;
      {
        scheduler<> here;
        here.start([&] { return how.program(s); });
        for (int i = 0; i != steps && !is_over; ++i) is_over = !here.step();
      }
      REQUIRE(s.borrowed_too_long == 0);
      REQUIRE(s.alive == 0);
      if (is_over) break;
    }
  }
}

/// The resumption of the inner handler is kept, and dropped later.
struct keeps_and_leaves : region {
  resumption<int, int> kept;
  eff<int, leaving_it> on(ask, resumption<int, int> k) {
    kept = std::move(k);
    co_return co_await leave{};
  }
};
job by_one_that_has_kept_it(seen& s) {
  using inside = eff<int, leaving_it, tasks, proc, syncing, mail, timing, completions>;
  local const mine(s);  // the kept resumption may be dropped after handle has its answer
  keeps_and_leaves inner;
  auto outer = [&](leave, resumption<int, int> k) -> eff<int, proc> {
    {
      auto const dropped = std::move(k);
    }
    co_await yields_often(2);
    inner.kept = {};
    co_return 16;
  };
  int const n = co_await handle<leaving_it>(clauses{outer}, [&]() -> inside {
    co_return co_await handle<asking>(inner, [&] { return opens_scopes(mine); });
  });
  CHECK(n == 16);
}

TEST_CASE("a clause that is unwound with another clause's continuation has a continuation later") {
  for (int round = 0; round != 100; ++round) {
    every_frame_dies const check;
    seen s;
    run_on<on_one_thread>([&] { return by_one_that_has_kept_it(s); });
    run_on<in_random_order>([&] { return by_one_that_has_kept_it(s); });
    REQUIRE(s.borrowed_too_long == 0);
    REQUIRE(s.alive == 0);
  }
}

/// Three clauses of one prompt, two of which, in two processes, are not done when the continuation
/// is dropped.
struct thrice : region {
  resumption<int, int> kept;
  int asked = 0;
  eff<int, proc> on(ask, resumption<int, int> k) {
    int const nth = asked++;
    if (nth == 0) {
      kept = std::move(k);
      co_await yields_often(before_it_ends);
      co_return 16;
    }
    if (nth == 1) {
      int const n = co_await std::move(k)(2);
      co_await yields_often(before_it_ends);
      co_return n;
    }
    co_return 17;
  }
  int before_it_ends = 0;
};
job by_the_clauses_of_two(seen& s, int steps) {
  local const mine(s);  // the kept resumption may be dropped after handle has its answer
  thrice h;
  h.before_it_ends = steps;
  co_await with_scope([&](tasks_scope& both) -> job {
    both.start([&]() -> job {
      while (!h.kept) co_await proc::yield{};
      int const n = co_await std::move(h.kept)(1);
      CHECK(n == 17);
    });
    int const n = co_await handle<asking>(h, [&]() -> asks {
      int const first = co_await ask{};
      int const rest = co_await with_scope([&](tasks_scope& in) -> asks {
        in.start(borrows, std::cref(mine));
        int const second = co_await ask{};
        int const third = co_await ask{};
        co_return second + third;
      });
      co_return first + rest;
    });
    CHECK(n == 16);
  });
}

TEST_CASE(
    "clauses of one handler that end while their continuation is pinned wait for it together") {
  for (int steps = 0; steps != 30; ++steps) {
    CAPTURE(steps);
    every_frame_dies const check;
    seen s;
    run_on<on_one_thread>([&] { return by_the_clauses_of_two(s, steps); });
    REQUIRE(s.borrowed_too_long == 0);
    REQUIRE(s.alive == 0);
    run_on<in_random_order>([&] { return by_the_clauses_of_two(s, steps); });
    REQUIRE(s.borrowed_too_long == 0);
    REQUIRE(s.alive == 0);
  }
  for (int steps = 0; steps != 40; ++steps) {
    CAPTURE(steps);
    every_frame_dies const check;
    seen s;
    {
      scheduler<> here;
      here.start([&] { return by_the_clauses_of_two(s, 6); });
      for (int i = 0; i != steps && here.step();) ++i;
    }
    REQUIRE(s.borrowed_too_long == 0);
    REQUIRE(s.alive == 0);
  }
}

struct keeps_what_it_should_not {
  resumption<int, int> kept;
  int on(ask, resumption<int, int> k) {
    kept = std::move(k);
    return 1;
  }
};

TEST_CASE("a borrowed handler that keeps a resumption with open tasks terminates the program") {
  using namespace Catch::Matchers;
  auto const said = last_words([] {
    run_on<on_one_thread>([]() -> job {
      seen s;
      local const mine(s);
      keeps_what_it_should_not keeper;
      (void)co_await handle<asking>(keeper, [&] { return opens_scopes(mine); });
    });
  });
  CHECK_THAT(said, Contains("keeps the resumption of") && Contains("tasks are open in there"));
}
