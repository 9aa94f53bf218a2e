// SPDX-License-Identifier: MIT

/// Handlers that drop a resumption across an open scope: who called `handle` goes on when the tasks
/// have ended, which may borrow what stands outside of it.

#include <catch2/catch.hpp>
#include <utility>

#include "sched/schedule.hpp"
#include "tests/support/dropping.hpp"
#include "tests/support/frames.hpp"
#include "tests/support/last_words.hpp"
#include "tests/support/tasks.hpp"

using namespace weft;
using namespace weft::tests;
using namespace weft::tests::dropping;

TEST_CASE("who called handle goes on when the tasks of what was dropped have ended") {
  is_waited_for(place_of<alone>("alone"));
  is_waited_for(place_of<by_random>("by_random"));
}

TEST_CASE("so it is when the scheduler goes while it waits, after any step") {
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

namespace {
struct keeps_what_it_should_not {
  resumption<int, int> kept;
  int on(ask, resumption<int, int> k) {
    kept = std::move(k);
    return 1;
  }
};
}  // namespace

TEST_CASE("a handler that is lent, and keeps a resumption in which tasks are open, is the end") {
  using namespace Catch::Matchers;
  auto const said = last_words([] {
    run_on<alone>([]() -> job {
      seen s;
      local const mine(s);
      keeps_what_it_should_not keeper;
      (void)co_await handle<asking>(keeper, [&] { return opens_scopes(mine); });
    });
  });
  CHECK_THAT(said, Contains("keeps the resumption of") && Contains("tasks are open in there"));
}
