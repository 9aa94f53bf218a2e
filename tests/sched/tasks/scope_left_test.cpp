// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "weft/sched/tasks/shielded.hpp"
#include "weft/sched/tasks/when_all.hpp"
#include "weft/sched/tasks/when_any.hpp"

/// Programs with nested scopes that are left at each of their places: borrowed objects outlive the
/// tasks that borrow them.

TEST_CASE("tasks count towards max_processes, but do not wait for room") {
  every_frame_dies const check;
  auto how = on_one_thread::how();
  how.max_processes = 3;
  how.when_full = overflow_policy::wait;
  counter ended = 0;
  bool is_full = false;
  run_on<on_one_thread>(
      how, [&]() -> eff<void, tasking<spawning<proc>, proc>, spawning<proc>, proc> {
        co_await with_scope([&](auto& s) -> eff<void, tasking<spawning<proc>, proc>, proc> {
          for (int i = 0; i != 5; ++i)
            s.start([&]() -> eff<void, proc> {
              co_await yields_often(3);
              ++ended;
            });
          s.start([&]() -> eff<void, spawning<proc>, proc> {  // waits for room
            (void)co_await spawn(
                [](counter& n) -> eff<void, proc> {
                  ++n;
                  co_return;
                },
                std::ref(ended));
            is_full = ended < 5;
          });
          co_return;
        });
      });
  CHECK(ended == 6);
  CHECK_FALSE(is_full);
}

enum class leaving { never, by_exit, by_an_exception, by_cancelling };

struct tree {
  counter alive = 0;
  counter borrowed_too_long = 0;
  counter nodes = 0;
  counter until_left = 0;  // places
  leaving how = leaving::never;
};
/// An object that tasks borrow.
struct local {
  explicit local(tree& t) : in(t), here(t.alive) {}
  ~local() { *is_there = false; }
  tree& in;
  lives here;
  std::shared_ptr<std::atomic<bool>> is_there = std::make_shared<std::atomic<bool>>(true);
};
/// A borrower of it; is destroyed with its frame.
struct borrower {
  explicit borrower(local const& of) : in(of.in), is_there(of.is_there) {}
  ~borrower() {
    if (!*is_there) ++in.borrowed_too_long;
  }
  tree& in;
  std::shared_ptr<std::atomic<bool>> is_there;
};

// ---- schedulers destroyed during a wait

using waits = eff<void, tasking<timing, proc>, timing, proc>;

waits yields_on() {
  for (;;) co_await proc::yield{};
}
eff<void, tasking<timing, proc>> awaits(task_handle<void>& h) { co_await h; }
eff<void> has_borrowed(local const& from) {
  borrower const b(from);
  co_return;
}
/// Destroys a scheduler of `program` after each number of steps up to `most`.
template <class Program>
void is_torn_down(int most, Program program) {
  for (int steps = 0; steps <= most; ++steps) {
    CAPTURE(steps);
    every_frame_dies const check;
    tree t;
    {
      scheduler<> s;
      s.start({.forkable = false}, [&] { return program(t); });
      for (int i = 0; i != steps; ++i) (void)s.step();
    }
    CHECK(t.alive == 0);
    CHECK(t.borrowed_too_long == 0);
  }
}

// This test is the first: no scope has been opened yet.
TEST_CASE(
    "tasks of a join that run as calls are destroyed with it, even if there never was a scope") {
  is_torn_down(8, [](tree& t) -> waits {
    local const mine(t);
    task_handle<void> h = co_await start_task(yields_on);
    co_await when_all(awaits(h), has_borrowed(mine));
  });
}

waits sleeps(local const& from, instant::duration how_long) {
  borrower const b(from);
  co_await timing::sleep_for{how_long};
}

TEST_CASE("a process that waits at the end of a scope is destroyed after all tasks in it") {
  is_torn_down(3, [](tree& t) -> waits {
    local const mine(t);
    task_handle<void> h;
    co_await with_scope([&](scope<timing, proc>& s) -> waits {
      s.start(sleeps, std::cref(mine), 1h);
      s.start(h, sleeps, std::cref(mine), 2h);
      co_return;
    });
  });
}

waits yields_for_ever(local const& from) {
  borrower const b(from);
  for (;;) co_await proc::yield{};
}

TEST_CASE("a process that waits at the end of a scope is destroyed after a ready task in it") {
  is_torn_down(8, [](tree& t) -> waits {
    local const mine(t);
    task_handle<void> h;
    co_await with_scope([&](scope<timing, proc>& s) -> waits {
      s.start(h, yields_for_ever, std::cref(mine));
      co_return;
    });
  });
}

/// A place at which the program may be left.
job passes(tree& t, tasks_scope& s) {
  co_await proc::yield{};
  if (--t.until_left != 0) co_return;
  switch (t.how) {
    case leaving::by_exit:
      co_await proc::exit{};
      break;
    case leaving::by_an_exception:
      throw std::runtime_error("left");
    case leaving::by_cancelling:
      s.cancel();
      break;
    default:
      break;
  }
}
eff<void> light(local const& from) {
  borrower const b(from);
  co_return;
}
job grows(local const& from, int depth) {
  borrower const b(from);
  local mine(from.in);
  ++mine.in.nodes;
  if (depth == 0) co_return co_await proc::yield{};
  co_await with_scope([&](tasks_scope& s) -> job {
    local body(mine.in);
    s.start([&]() -> job {
      co_await passes(mine.in, s);
      co_await grows(mine, depth - 1);
    });
    s.start(light, std::cref(mine));
    task_handle<int> h;
    s.start(h, [&] {
      borrower const short_lived(mine);
      return 1;
    });
    co_await passes(mine.in, s);
    co_await when_all(grows(body, depth - 1), grows(mine, 0), light(body));
    co_await passes(mine.in, s);
    (void)co_await h;
    co_await shielded([&]() -> job { co_await grows(body, 0); });
    (void)co_await when_any(grows(body, depth - 1), yields_often(3));
    co_await when_all(light(body), light(mine));
  });
}
job grown(tree& t) {
  local root(t);
  co_await grows(root, 2);
}

TEST_CASE(
    "a scheduler destroyed at any step leaks nothing, and borrowed objects outlive their tasks") {
  int most = 0;
  for (int steps = 0;; ++steps) {
    CAPTURE(steps);
    every_frame_dies const check;
    tree t;
    bool is_over = false;
    {
      scheduler<> s;
      s.start([&] { return grown(t); });
      for (int i = 0; i != steps && !is_over; ++i) is_over = !s.step();
    }
    REQUIRE(t.alive == 0);
    REQUIRE(t.borrowed_too_long == 0);
    most = t.nodes;
    if (is_over) break;
  }
  CHECK(most > 15);
}

TEST_CASE("a program with nested scopes may be left at any place, in any way") {
  for (auto const& where : places_for_tasks())
    for (leaving const how : {leaving::by_exit, leaving::by_an_exception, leaving::by_cancelling}) {
      CAPTURE(where.name);
      CAPTURE(static_cast<int>(how));
      int left = 0;
      for (int place = 1;; ++place) {
        CAPTURE(place);
        every_frame_dies const check;
        tree t;
        t.until_left = place;
        t.how = how;
        leaving thrown = leaving::never;
        try {
          where.run([&] { return grown(t); });
        } catch (std::runtime_error const&) {
          thrown = leaving::by_an_exception;
          // A process that waits for an exited task has no result to continue with.
        } catch (cancelled const&) {
          thrown = leaving::by_cancelling;
        }
        REQUIRE(t.alive == 0);
        REQUIRE(t.borrowed_too_long == 0);
        bool const was_left = t.until_left <= 0;
        // when_any drops the result of a late task.
        if (thrown != leaving::never) REQUIRE(was_left);
        if (how == leaving::by_an_exception)
          REQUIRE(thrown != leaving::by_cancelling);
        else
          REQUIRE(thrown != leaving::by_an_exception);
        if (!was_left) break;
        ++left;
      }
      CHECK(left >= 3);
    }
}

struct ask : op<int> {};
struct asking {
  using operations = op_list<ask>;
};

TEST_CASE("a resumption dropped across two scopes, by any thread, waits for the tasks of both") {
  for (auto const& where : places_for_tasks()) {
    CAPTURE(where.name);
    for (int round = 0; round != rounds(200); ++round) {
      every_frame_dies const check;
      tree t;
      int result = 0;
      where.run([&]() -> job {
        using asks = eff<int, asking, tasks, proc, syncing, mail, timing, completions>;
        result = co_await handle<asking>(
            clauses{[](ask, resumption<int, int>) { return 7; }}, [&]() -> asks {
              local outer(t);
              co_return co_await with_scope([&](tasks_scope& a) -> asks {
                a.start([&]() -> job {
                  borrower const b(outer);
                  for (;;) co_await proc::yield{};
                });
                a.start(light, std::cref(outer));
                local inner(t);
                co_return co_await with_scope([&](tasks_scope& s) -> asks {
                  s.start([&]() -> job {
                    borrower const b(inner);
                    co_await yields_often(round % 4);
                    co_await when_all(light(outer), grows(inner, 1));
                  });
                  s.start(light, std::cref(inner));
                  co_await yields_often(round % 7);
                  co_return co_await ask{};
                });
              });
            });
      });
      REQUIRE(result == 7);
      REQUIRE(t.alive == 0);
      REQUIRE(t.borrowed_too_long == 0);
    }
  }
}

TEST_CASE(
    "a process that ignores its cancellations is unwound with an open scope, after its tasks") {
  for (auto const& where : places_for_tasks()) {
    CAPTURE(where.name);
    every_frame_dies const check;
    tree t;
    counter heard = 0;
    std::atomic<bool> begun = false;
    where.run([&]() -> job {
      co_await with_scope([&](tasks_scope& s) -> job {
        s.start([&]() -> job {
          local mine(t);
          co_await with_scope([&](tasks_scope& in) -> job {
            in.start([&]() -> job {
              borrower const b(mine);
              co_await timing::sleep_for{1h};
            });
            begun = true;
            for (;;) try {
                co_await proc::yield{};
              } catch (cancelled const&) {
                ++heard;
              }
          });
        });
        while (!begun) co_await proc::yield{};
        s.cancel();
      });
    });
    CHECK(heard == 100);
    CHECK(t.alive == 0);
    CHECK(t.borrowed_too_long == 0);
  }
}
