// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "weft/sched/tasks/when_all.hpp"

/// Scopes and task handles: which of them waits for which tasks.

BACKENDS_TEST_CASE("a scope waits for all tasks that were started in it", "", on_one_thread,
                   in_random_order, on_sharing<2>, on_stealing<2>) {
  every_frame_dies const check;
  std::atomic<int> done = 0;
  int at_end = 0;
  run_on(chosen, [&]() -> eff<void, yields, proc> {
    co_await with_scope([&](auto& s) -> eff<void, yields, proc> {
      for (int i = 0; i != 20; ++i) {
        s.start([&] { ++done; });
        s.start([&]() -> eff<void, yields, proc> {
          co_await proc::yield{};
          ++done;
        });
      }
      co_await proc::yield{};
    });
    at_end = done;
  });
  CHECK(at_end == 40);
}

eff<int> sum(int a, int b) { co_return a + b; }
eff<int, yields, proc> late_sum(int a, int b) {
  for (int i = 0; i != 3; ++i) co_await proc::yield{};
  co_return a + b;
}

BACKENDS_TEST_CASE("a handle yields the result of its task", "", on_one_thread, in_random_order,
                   on_sharing<2>, on_stealing<2>) {
  every_frame_dies const check;
  int got = 0;
  run_on(chosen, [&]() -> eff<void, yields, proc> {
    got = co_await with_scope([&](auto& s) -> eff<int, yields, proc> {
      task_handle<int> a;
      task_handle<int> b;
      s.start(a, sum, 1, 2);
      s.start(b, late_sum, 10, 20);
      int const first = co_await a;
      int const second = co_await b;
      int const again = co_await b;
      co_return first + second + again;
    });
  });
  CHECK(got == 63);
}

BACKENDS_TEST_CASE("a handle has several tasks, and can be used again", "", on_one_thread,
                   in_random_order, on_sharing<2>, on_stealing<2>) {
  every_frame_dies const check;
  std::vector<int> got;
  int more = 0;
  run_on(chosen, [&]() -> eff<void, yields, proc> {
    co_await with_scope([&](auto& s) -> eff<void, yields, proc> {
      task_handle<int> h;
      for (int i = 0; i != 5; ++i) s.start(h, late_sum, i, i);
      got = co_await h.all();
      s.start(h, sum, 100, 1);
      more = co_await h.take();
    });
  });
  CHECK(got == std::vector<int>{0, 2, 4, 6, 8});
  CHECK(more == 101);
}

BACKENDS_TEST_CASE("the results in a handle outlive the scope", "", on_one_thread, in_random_order,
                   on_sharing<2>, on_stealing<2>) {
  every_frame_dies const check;
  std::string got;
  run_on(chosen, [&]() -> eff<void, pure> {
    task_handle<std::string> h;
    co_await with_scope([&](auto& s) -> eff<void, pure> {
      s.start(h, [] { return std::string("all of it, and more than fits in a word"); });
      co_return;
    });
    got = co_await h.take();
  });
  CHECK(got == "all of it, and more than fits in a word");
}

BACKENDS_TEST_CASE("tasks that wait for others run after them", "", on_one_thread, in_random_order,
                   on_sharing<2>, on_stealing<2>) {
  every_frame_dies const check;
  std::vector<std::string> order;
  run_on(chosen, [&]() -> eff<void, pure> {
    std::atomic<int> at = 0;
    int a_at = 0;
    int b_at = 0;
    int c_at = 0;
    int d_at = 0;
    task_handle<void> a;
    task_handle<void> b;
    task_handle<void> c;
    co_await with_scope([&](auto& s) -> eff<void, pure> {
      s.start(a, [&] { a_at = ++at; });
      s.start(b, [&]() -> eff<void, pure> {
        co_await a;
        b_at = ++at;
      });
      s.start(c, [&]() -> eff<void, pure> {
        co_await a;
        c_at = ++at;
      });
      s.start([&]() -> eff<void, pure> {
        co_await b;
        co_await c;
        d_at = ++at;
      });
      co_return;
    });
    if (a_at == 1 && b_at > 1 && c_at > 1 && d_at == 4) order = {"a", "b and c", "d"};
  });
  CHECK(order == std::vector<std::string>{"a", "b and c", "d"});
}

BACKENDS_TEST_CASE("tasks of a scope start others in it, and scopes of their own", "",
                   on_one_thread, in_random_order, on_sharing<2>, on_stealing<2>) {
  every_frame_dies const check;
  std::atomic<int> done = 0;
  int at_end = 0;
  run_on(chosen, [&]() -> eff<void, yields, proc> {
    co_await with_scope([&](scope<proc>& s) -> eff<void, yields, proc> {
      s.start([&]() -> eff<void, yields, proc> {
        co_await proc::yield{};
        for (int i = 0; i != 3; ++i)
          s.start([&]() -> eff<void, yields, proc> {
            co_await with_scope([&](auto& inner) -> eff<void, yields, proc> {
              inner.start([&] { ++done; });
              inner.start([&]() -> eff<void, yields, proc> {
                co_await proc::yield{};
                ++done;
              });
              co_return;
            });
          });
      });
      co_return;
    });
    at_end = done;
  });
  CHECK(at_end == 6);
}

eff<void, pure> opens_scopes(int n, std::atomic<bool>& other_has_run, bool& was_left) {
  for (int i = 0; i != n; ++i) co_await with_scope([](auto&) -> eff<void, pure> { co_return; });
  // This thread has more to do: other threads have to take the lazy tasks.
  auto const end = instant::clock::now() + std::chrono::seconds(5);
  while (!other_has_run && instant::clock::now() < end) std::this_thread::yield();
  was_left = !other_has_run;
}
eff<void, pure> runs(std::atomic<bool>& has_run) {
  has_run = true;
  co_return;
}

// A scope that ends looks whether the newest lazy task is one of its own.
BACKENDS_TEST_CASE("a lazy task that its owner has reclaimed and pushed back is announced again",
                   "", on_sharing<2>, on_stealing<2>) {
  every_frame_dies const check;
  bool was_left = false;
  run_on(chosen, [&was_left]() -> eff<void, pure> {
    for (int i = 0; i != rounds(2'000) && !was_left; ++i) {
      // Perhaps the other thread is about to sleep.
      auto const later = instant::clock::now() + std::chrono::nanoseconds(i % 100 * 200);
      while (instant::clock::now() < later) continue;
      std::atomic<bool> has_run = false;
      co_await when_all(opens_scopes(i % 77 * 20, has_run, was_left), runs(has_run));
    }
  });
  CHECK_FALSE(was_left);
}
