// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "weft/sched/tasks/when_all.hpp"

/// The use cases of a task system, one test each.  Cases 3 and 4 would leave a dangling reference,
/// and do not compile: tests/refused/starting_a_closure_that_borrows.cpp,
/// starting_with_a_handle_a_closure_that_borrows.cpp, and the arguments beside them.

/// Outlives all tasks.
std::atomic<int> done = 0;

void adds(int n) { done += n; }
eff<void, proc> adds_later(std::unique_ptr<int> n) {
  for (int i = 0; i != 5; ++i) co_await proc::yield{};
  done += *n;
}

BACKENDS_TEST_CASE(
    "use case 1: tasks are fired and forgotten, and may outlive the process that starts them", "",
    on_one_thread, on_locked_queue, in_random_order, on_sharing<2>, on_stealing<2>) {
  every_frame_dies const check;
  done = 0;
  run_on(chosen, []() -> eff<void, yields> {
    (void)co_await start_task(adds, 1);
    (void)co_await start_task([] { done += 10; });
    (void)co_await start_task(adds_later, std::make_unique<int>(100));
    {
      task_handle<void> h;
      co_await start_task(h, adds_later, std::make_unique<int>(1000));
    }  // the handle is destroyed first
  });
  CHECK(done == 1111);  // the schedule waits for all tasks
}

BACKENDS_TEST_CASE("use case 2: two tasks have one handle, and a wait is for both", "",
                   on_one_thread, on_locked_queue, in_random_order, on_sharing<2>, on_stealing<2>) {
  every_frame_dies const check;
  done = 0;
  int at_first = 0;
  int at_end = 0;
  run_on(chosen, [&]() -> eff<void, yields> {
    task_handle<void> h;
    co_await start_task(h, adds_later, std::make_unique<int>(1));
    co_await start_task(h, [] { done += 10; });
    co_await h;
    at_first = done;
    co_await start_task(h, adds, 100);  // the handle is used again
    co_await h;
    at_end = done;
  });
  CHECK(at_first == 11);
  CHECK(at_end == 111);
}

eff<int> doubled(int n) { co_return 2 * n; }
eff<int, proc> doubled_later(int n) {
  co_await proc::yield{};
  co_return 2 * n;
}

BACKENDS_TEST_CASE("use case 2: two tasks with one handle yield two results", "", on_one_thread,
                   on_locked_queue, in_random_order, on_sharing<2>, on_stealing<2>) {
  every_frame_dies const check;
  std::vector<int> got;
  run_on(chosen, [&]() -> eff<void, yields> {
    auto h = co_await start_task(doubled_later, 4);
    co_await start_task(h, doubled, 5);
    got = co_await h.all();
  });
  CHECK(got == std::vector<int>{8, 10});
}

BACKENDS_TEST_CASE("use case 5: a task borrows a local, and the wait is explicit", "",
                   on_one_thread, on_locked_queue, in_random_order, on_sharing<2>, on_stealing<2>) {
  every_frame_dies const check;
  int at_wait = 0;
  run_on(chosen, [&]() -> eff<void, yields, proc> {
    int local = 1;
    co_await with_scope([&](auto& s) -> eff<void, yields, proc> {
      task_handle<void> h;
      s.start(h, [&] { local *= 2; });
      co_await h;
      s.start(h, [&]() -> eff<void, proc> {
        co_await proc::yield{};
        local += 40;
      });
      co_await h;
      at_wait = local;
    });
  });
  CHECK(at_wait == 42);
}

/// The number of frames that are made for a task that is waited for at once, besides its own, and
/// whether the waiting thread runs it.
template <class Where>
std::pair<std::int64_t, bool> made_for_one(int& local) {
  std::int64_t made = 0;
  bool is_here = false;
  run_on<Where>([&]() -> eff<void, pure> {
    auto const before = weft::detail::frames_so_far().births;
    auto const here = std::this_thread::get_id();
    auto const task = [&]() -> eff<void, pure> {
      made = weft::detail::frames_so_far().births - before - 1;
      is_here = std::this_thread::get_id() == here;
      local = 42;
      co_return;
    };
    co_await when_all(task());
  });
  return {made, is_here};
}

TEST_CASE(
    "use case 6: a task that is waited for at once is a call, no process, and no thief takes it") {
  every_frame_dies const check;
  int local = 1;
  auto const alone_ = made_for_one<on_one_thread>(local);
  CHECK(alone_ == std::pair<std::int64_t, bool>(0, true));
  CHECK(local == 42);
  // The other thread has nothing else to do than to take lazy tasks.
  for (int round = 0; round != rounds(1000); ++round) {
    local = 1;
    auto const [made, is_here] = made_for_one<on_stealing<2>>(local);
    if (made != 0 || !is_here || local != 42) FAIL("it was taken, or made a process");
  }
  // On a backend without lazy tasks it is a process.
  CHECK(made_for_one<on_locked_queue>(local).first > 0);
}

BACKENDS_TEST_CASE("use case 7: a scope waits at its end for all tasks that it was given", "",
                   on_one_thread, on_locked_queue, in_random_order, on_sharing<2>, on_stealing<2>) {
  every_frame_dies const check;
  int at_end = 0;
  run_on(chosen, [&]() -> eff<void, yields, proc> {
    std::atomic<int> local = 0;
    co_await with_scope([&](auto& s) -> eff<void, yields, proc> {
      s.start([&] { local += 1; });
      s.start([&]() -> eff<void, proc> {
        for (int i = 0; i != 5; ++i) co_await proc::yield{};
        local += 10;
      });
      s.start([&](int n) { local += n; }, 100);
      co_return;
    });
    at_end = local;
  });
  CHECK(at_end == 111);
}
