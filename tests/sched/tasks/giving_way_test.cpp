// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "weft/sched/tasks/when_all.hpp"

/// A process that runs light tasks, each as a call of another, lets other processes run and looks
/// at the clock: after a fixed number of tasks, on any machine.

/// TASK-6 of sched/tasks/detail/task.hpp: after so many tasks a process looks at the clock, and for
/// other processes.
constexpr long until_it_looks = 1024;
constexpr int size = 25;  // 242 785 tasks; so many of them may have begun before it looks
constexpr long bound = 2 * until_it_looks + size;

struct light_tasks {
  long done = 0;
  long most = 0;  // between two turns of another process
  long since = 0;
  std::stop_source stop;
  long stops_at = -1;

  void one_more() {
    if (++done == stops_at) stop.request_stop();
    most = std::max(most, ++since);
  }
};

eff<long, tasking<>> fib(int n, light_tasks& all) {
  all.one_more();
  if (n < 2) co_return n;
  auto const [a, b] = co_await when_all(fib(n - 1, all), fib(n - 2, all));
  co_return a + b;
}

using row_ = row<tasking<>, spawning<proc>>;

BACKENDS_TEST_CASE("a deadline that has passed ends light tasks within a bound", "", on_one_thread,
                   on_sharing<1>, on_stealing<1>) {
  every_frame_dies const check;
  light_tasks all;
  bool was_cancelled = false;
  run_on(chosen, [&]() -> eff<void, row_> {
    auto const computes = [&all](auto&) -> eff<void, row_> { (void)co_await fib(size, all); };
    try {
      co_await with_scope({.deadline = instant::min()}, computes);
    } catch (cancelled const&) {
      was_cancelled = true;
    }
  });
  CHECK(was_cancelled);
  // The task that watches the clock has to begin first.
  CHECK(all.done <= until_it_looks + bound);
}

BACKENDS_TEST_CASE("a deadline that has passed is not hidden by a timeout", "", on_one_thread,
                   on_sharing<1>, on_stealing<1>) {
  bool was_cancelled = false;
  using timed = row<tasking<timing>, timing>;
  run_on(chosen, virtual_time(), [&]() -> eff<void, timed> {
    auto const sleeps = [](auto&) -> eff<void, timed> {
      co_await timing::sleep_for(std::chrono::hours(1));
    };
    for (auto const timeout : {instant::duration::max(), instant::duration(1),
                               instant::duration(-1), instant::duration::min()})
      for (auto const deadline : {instant::min(), instant()}) {
        was_cancelled = false;
        try {
          co_await with_scope({.deadline = deadline, .timeout = timeout}, sleeps);
        } catch (cancelled const&) {
          was_cancelled = true;
        }
        CHECK(was_cancelled);
        instant const now = co_await timing::now{};
        CHECK(now == instant());
      }
  });
}

BACKENDS_TEST_CASE("a stop request ends light tasks within a bound", "", on_one_thread,
                   on_sharing<1>, on_stealing<1>) {
  every_frame_dies const check;
  light_tasks all;
  all.stops_at = 50'000;
  auto const program = [&]() -> eff<void, row_> { (void)co_await fib(size, all); };
  CHECK_THROWS_AS(run_on(chosen, options(false, all.stop.get_token()), program), cancelled);
  CHECK(all.done <= all.stops_at + bound);
}

BACKENDS_TEST_CASE("another process has its turn between light tasks, within a bound", "",
                   on_one_thread, on_sharing<1>, on_stealing<1>) {
  every_frame_dies const check;
  light_tasks all;
  long value = 0;
  run_on(chosen, [&]() -> eff<void, row_> {
    co_await spawn(
        [](light_tasks& tasks) -> eff<void, proc> {
          for (int i = 0; i != 10; ++i) {
            tasks.since = 0;
            co_await proc::yield{};
          }
          tasks.most = std::max(tasks.most, tasks.since);
          tasks.since = -1'000'000;  // it needs no more turns
        },
        std::ref(all));
    value = co_await fib(size, all);
  });
  CHECK(value == 75'025);
  CHECK(all.most <= bound);
}
