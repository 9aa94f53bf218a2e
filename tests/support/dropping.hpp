// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <stdexcept>
#include <utility>

#include "tests/support/frames.hpp"
#include "tests/support/tasks.hpp"
#include "tests/support/threads.hpp"
#include "weft/effects/effects.hpp"
#include "weft/sched/schedule.hpp"
#include "weft/sched/tasks/scope.hpp"
#include "weft/sched/tasks/shielded.hpp"

/// All ways in which a handler can drop a resumption across open scopes.
namespace weft::tests::dropping {

struct ask : op<int> {};
struct asking {
  using operations = op_list<ask>;
};
using asks = eff<int, asking, tasks, proc, syncing, mail, timing, completions>;

struct seen {
  counter alive = 0;
  counter borrowed_too_long = 0;
  counter begun = 0;
  counter ended = 0;
};
/// An object that tasks borrow.
struct local {
  explicit local(seen& s) : in(s), here(s.alive) {}
  ~local() { *is_there = false; }
  seen& in;
  lives here;
  std::shared_ptr<std::atomic<bool>> is_there = std::make_shared<std::atomic<bool>>(true);
};
/// Checks that `from` exists at each step until it is cancelled, and for a few more.
inline job borrows(local const& from) {
  struct borrower {
    explicit borrower(local const& of) : in(of.in), is_there(of.is_there) { ++in.begun; }
    ~borrower() {
      ++in.ended;
      look();
    }
    void look() const {
      if (!*is_there) ++in.borrowed_too_long;
    }
    seen& in;
    std::shared_ptr<std::atomic<bool>> is_there;
  } const b(from);
  try {
    for (;;) {
      co_await proc::yield{};
      b.look();
    }
  } catch (cancelled const&) {
  }
  co_await shielded([&]() -> job {
    co_await yields_often(3);
    b.look();
  });
}
/// Asks inside two scopes, each with two tasks that borrow `from`.
inline asks opens_scopes(local const& from) {
  co_return co_await with_scope([&](tasks_scope& outer) -> asks {
    outer.start(borrows, std::cref(from));
    outer.start(borrows, std::cref(from));
    co_return co_await with_scope([&](tasks_scope& inner) -> asks {
      inner.start(borrows, std::cref(from));
      inner.start(borrows, std::cref(from));
      co_await yields_often(2);
      co_return co_await ask{};
    });
  });
}

// ---- the ways to drop it

using around = eff<int, tasks, proc, syncing, mail, timing, completions>;

inline job by_a_value(seen& s) {
  local const mine(s);
  int const n = co_await handle<asking>(clauses{[](ask, resumption<int, int>) { return 7; }},
                                        [&] { return opens_scopes(mine); });
  CHECK(n == 7);
}
inline job by_an_exception(seen& s) {
  int caught = 0;
  {
    local const mine(s);
    try {
      (void)co_await handle<asking>(
          clauses{[](ask, resumption<int, int>) -> int { throw std::runtime_error("no answer"); }},
          [&] { return opens_scopes(mine); });
    } catch (std::runtime_error const&) {
      ++caught;
    }
  }
  CHECK(caught == 1);
}
inline job by_a_coroutine_at_its_end(seen& s) {
  local const mine(s);
  auto clause = [](ask, resumption<int, int>) -> eff<int> { co_return 8; };
  int const n = co_await handle<asking>(clauses{clause}, [&] { return opens_scopes(mine); });
  CHECK(n == 8);
}
inline job by_a_coroutine_that_goes_on(seen& s) {
  local const mine(s);
  auto clause = [](ask, resumption<int, int> k) -> eff<int, proc> {
    {
      auto const dropped = std::move(k);
    }
    co_await yields_often(2);
    co_return 9;
  };
  int const n = co_await handle<asking>(clauses{clause}, [&] { return opens_scopes(mine); });
  CHECK(n == 9);
}
inline job by_a_coroutine_that_has_it_all_the_time(seen& s) {
  local const mine(s);
  auto clause = [](ask, resumption<int, int>) -> eff<int, proc> {
    co_await yields_often(3);
    co_return 9;
  };
  int const n = co_await handle<asking>(clauses{clause}, [&] { return opens_scopes(mine); });
  CHECK(n == 9);
}
inline job by_a_coroutine_that_exits(seen& s) {
  local const mine(s);
  auto clause = [](ask, resumption<int, int>) -> eff<int, proc> {
    co_await proc::yield{};
    co_await proc::exit{};
    co_return 9;
  };
  (void)co_await handle<asking>(clauses{clause}, [&] { return opens_scopes(mine); });
}
/// A clause is dropped, by a handler that continues, while it waits for its own dropped resumption.
struct leave : op<int> {};
struct leaving_it {
  using operations = op_list<leave>;
};
inline job by_one_inside_of_another(seen& s) {
  using inside = eff<int, leaving_it, tasks, proc, syncing, mail, timing, completions>;
  local const mine(s);
  auto inner = [](ask, resumption<int, int> k) -> eff<int, leaving_it> {
    {
      auto const dropped = std::move(k);
    }
    co_return co_await leave{};
  };
  auto outer = [](leave, resumption<int, int> k) -> eff<int, proc> {
    {
      auto const dropped = std::move(k);
    }
    co_await yields_often(2);
    co_return 15;
  };
  int const n = co_await handle<leaving_it>(clauses{outer}, [&]() -> inside {
    local const between(s);
    co_return co_await handle<asking>(clauses{inner}, [&] { return opens_scopes(between); });
  });
  CHECK(n == 15);
}
/// The second clause drops it, whose answer goes to the first clause.
struct on_second_thought {
  bool was_asked = false;
  eff<int> on(ask, resumption<int, int> k) {
    if (std::exchange(was_asked, true)) co_return 10;
    co_return co_await std::move(k)(1) + 1;
  }
};
inline job by_the_second_time(seen& s) {
  local const mine(s);
  int const n = co_await handle<asking>(on_second_thought(), [&]() -> asks {
    int const first = co_await ask{};
    int const rest = co_await opens_scopes(mine);
    co_return first + rest;
  });
  CHECK(n == 11);
}
inline job by_one_that_resumes_twice(seen& s) {
  local const mine(s);
  auto clause = [](ask, multi_resumption<int, int> k) -> eff<int> {
    auto const same = k;
    co_return 12;
  };
  int const n = co_await handle<asking>(clauses{clause}, [&mine] { return opens_scopes(mine); });
  CHECK(n == 12);
}
/// The answer goes to another handler, with no frame in between.
inline job by_the_inner_of_two(seen& s) {
  local const mine(s);
  auto inner = clauses{[](ask, resumption<int, int>) { return 13; }};
  int const n = co_await handle<state<int>>(
      state_of(1), handle<asking>(std::move(inner), [&] { return opens_scopes(mine); }));
  CHECK(n == 13);
}

struct way {
  char const* name;
  job (*program)(seen&);
};
constexpr way ways[] = {
    {"by a value", by_a_value},
    {"by an exception", by_an_exception},
    {"by a coroutine at its end", by_a_coroutine_at_its_end},
    {"by a coroutine that goes on", by_a_coroutine_that_goes_on},
    {"by a coroutine that has it all the time", by_a_coroutine_that_has_it_all_the_time},
    {"by a coroutine that exits", by_a_coroutine_that_exits},
    {"by one inside of another", by_one_inside_of_another},
    {"the second time", by_the_second_time},
    {"by one that resumes twice", by_one_that_resumes_twice},
    {"by the inner of two handlers", by_the_inner_of_two},
};

/// The caller of handle continues when the tasks of the dropped resumption have ended.
inline void is_waited_for(place const& where) {
  CAPTURE(where.name);
  for (way const& how : ways) {
    CAPTURE(how.name);
    int most = 0;
    for (int round = 0; round != rounds(50); ++round) {
      every_frame_dies const check;
      seen s;
      where.run([&]() -> job {
        co_await how.program(s);
        CHECK(s.ended == s.begun);
      });
      REQUIRE(s.borrowed_too_long == 0);
      REQUIRE(s.alive == 0);
      most = std::max<int>(most, s.ended);
    }
    CHECK(most > 1);
  }
}

}  // namespace weft::tests::dropping
