// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "tests/support/allocations.hpp"
#include "weft/sched/tasks/when_all.hpp"
#include "weft/sched/tasks/when_any.hpp"

/// Each allocation of a program with tasks fails once: whichever exception is thrown, nothing is
/// lost and no process is left.

using step = eff<void, yields, proc>;
eff<int> one() { co_return 1; }
eff<int, proc> late_one() {
  co_await proc::yield{};
  co_return 1;
}

/// Starts tasks, and returns the sum of their results: 20.
eff<int, yields, proc> has_tasks() {
  counter done = 0;
  co_await with_scope([&](scope<proc>& s) -> step {
    task_handle<int> h;
    for (int i = 0; i != 3; ++i) {
      s.start([&] { ++done; });
      s.start([&]() -> step {
        co_await proc::yield{};
        ++done;
      });
      s.start(h, late_one);
      s.start(h, one);
    }
    for (int const n : co_await h.all()) done += n;
    auto const [a, b] = co_await when_all(one(), one());
    auto const [c, d] = co_await when_all(late_one(), one());
    done += a + b + c + d;
    auto const e = co_await when_any(late_one(), late_one());
    done += e.index() == 0 ? std::get<0>(e) : std::get<1>(e);
    task_handle<int> alone_;
    co_await start_task(alone_, late_one);
    done += co_await alone_;
    done += co_await co_await start_task(one);
    co_await with_scope([&](scope<proc>& in) -> step {
      in.start([&]() -> step {
        co_await when_all(late_one(), late_one());
        ++done;
      });
      co_return;
    });
  });
  co_return done;
}

/// Fails each allocation in turn; returns their number.
template <class Where, class Program>
int each_allocation_fails(Program program) {
  for (int n = 0;; ++n) {
    CAPTURE(n);
    every_frame_dies const check;
    int done = 0;
    bool was_thrown = false;
    until_failure = n;
    try {
      run_on<Where>([&]() -> step { done = co_await program(); });
    } catch (std::bad_alloc const&) {
      was_thrown = true;
    } catch (exceptions const&) {  // from tasks that could not be allocated
      was_thrown = true;
    } catch (cancelled const&) {
      FAIL("what went wrong was no memory");
    }
    bool const has_failed = until_failure < 0;
    until_failure = -1;
    // It was thrown, or nothing is missing.
    if (!was_thrown) REQUIRE(done == 20);
    if (!has_failed) {
      REQUIRE_FALSE(was_thrown);
      return n;
    }
  }
}

TEMPLATE_TEST_CASE("each allocation of tasks may fail", "", on_one_thread, on_locked_queue,
                   on_stealing<1>, on_stealing<2>) {
  CHECK(each_allocation_fails<TestType>(has_tasks) > 3);
}

/// The tasks of has_tasks(), with a timeout: the task that watches the clock is ended after so many steps.
eff<int, yields, proc> has_tasks_in_time(int steps) {
  counter done = 0;
  co_await with_scope({.timeout = 24h}, [&](scope<proc>& s) -> step {
    s.start([&]() -> step {
      co_await proc::yield{};
      done += 20;
    });
    for (int i = 0; i != steps; ++i) co_await proc::yield{};
  });
  co_return done;
}

TEMPLATE_TEST_CASE("each allocation of tasks with a timeout may fail", "", on_one_thread,
                   on_locked_queue, on_stealing<2>) {
  // So many that each allocation of a queue is once that of the last step.
  for (int steps = 0; steps != 70; ++steps)
    CHECK(each_allocation_fails<TestType>([&] { return has_tasks_in_time(steps); }) > 0);
}
