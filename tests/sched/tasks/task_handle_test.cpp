// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"

/// The results of a handle, and when they are available; and the lifetime of a handle.

int same(int n) { return n; }

TEST_CASE("a handle may outlive the scheduler, with tasks in a scope and without") {
  every_frame_dies const check;
  for (auto const& where : places_for_tasks()) {
    CAPTURE(where.name);
    task_handle<std::string> of_scope;
    task_handle<int> without;
    where.run([&]() -> job {
      co_await start_task(without, same, 7);
      co_await with_scope([&](tasks_scope& s) -> job {
        s.start(of_scope, [] { return std::string("more than would fit into a few words"); });
        co_return;
      });
    });
    CHECK(of_scope.have_ended());
    CHECK(of_scope.size() == 1);
    CHECK(without.have_ended());
    of_scope.clear();
    CHECK(of_scope.size() == 0);
  }
}

eff<int, timing> same_later(int n) {
  co_await timing::sleep_for{1min};
  co_return n;
}
eff<int, proc> fails() {
  co_await proc::yield{};
  throw wrong("it");
}

TEST_CASE(
    "a wait with a deadline says whether all tasks have ended by then, and throws none of their "
    "errors") {
  for (auto const& where : places_for_tasks()) {
    CAPTURE(where.name);
    every_frame_dies const check;
    std::vector<bool> said;
    std::string thrown;
    int got = 0;
    where.run_in_virtual_time([&]() -> job {
      task_handle<int> h;
      said.push_back(co_await h.wait_for(1h));  // it has no tasks
      co_await start_task(h, same_later, 7);
      said.push_back(co_await h.wait_for(59s));
      instant const now = co_await timing::now{};
      said.push_back(co_await h.wait_until(now - 1s));
      said.push_back(co_await h.wait_until(now + 2s));
      said.push_back(co_await h.wait_for(0s));
      got = co_await h.take();
      co_await start_task(h, fails);
      said.push_back(co_await h.wait_for(1h));
      try {
        (void)co_await h;
      } catch (wrong const& e) {
        thrown = e.what();
      }
    });
    CHECK(said == std::vector<bool>{true, false, false, true, true, true});
    CHECK(got == 7);
    CHECK(thrown == "it");
  }
}

TEST_CASE("several processes wait for one handle, each until all of its tasks have ended") {
  for (auto const& where : places_for_tasks()) {
    CAPTURE(where.name);
    for (int round = 0; round != rounds(100); ++round) {
      every_frame_dies const check;
      counter ended = 0, early = 0, went_on = 0;
      where.run([&]() -> job {
        task_handle<void> h;
        co_await with_scope([&](tasks_scope& s) -> job {
          for (int i = 0; i != 5; ++i)
            s.start(h, [&ended, i]() -> eff<void, proc> {
              co_await yields_often(i % 3);
              ++ended;
            });
          for (int i = 0; i != 4; ++i)
            s.start([&]() -> job {
              co_await h;
              if (ended != 5) ++early;
              ++went_on;
            });
          co_return;
        });
      });
      REQUIRE(early == 0);
      REQUIRE(went_on == 4);
    }
  }
}

TEST_CASE("a handle of no task, or of several, is not awaited for a single result") {
  every_frame_dies const check;
  std::vector<std::string> said;
  schedule([&]() -> job {
    task_handle<int> h;
    for (int n : {0, 2}) {
      for (int i = 0; i != n; ++i) co_await start_task(h, same, i);
      try {
        (void)co_await h;
      } catch (std::logic_error const& e) {
        said.emplace_back(e.what());
      }
    }
    task_handle<void> none;
    co_await none;  // there is no result
  });
  REQUIRE(said.size() == 2);
  CHECK_THAT(said[0], Contains("a handle of 0 tasks"));
  CHECK_THAT(said[1], Contains("a handle of 2 tasks") && Contains("h.all()"));
}

TEST_CASE(
    "an exception of a task in no scope is thrown by schedule, unless a process waited for it") {
  for (auto const& where : places_for_tasks()) {
    CAPTURE(where.name);
    every_frame_dies const check;
    auto const drops_it = []() -> job { (void)co_await start_task(fails); };
    CHECK_THROWS_AS(where.run(drops_it), wrong);
    std::string thrown;
    auto const waits_for_it = [&]() -> job {
      auto h = co_await start_task(fails);
      try {
        (void)co_await h;
      } catch (wrong const& e) {
        thrown = e.what();
      }
    };
    CHECK_NOTHROW(where.run(waits_for_it));
    CHECK(thrown == "it");
  }
}

TEST_CASE("ordinary code outside its scheduler cannot start a task in a scope") {
  every_frame_dies const check;
  scope<proc, syncing, mail, timing, completions>* left = nullptr;
  std::string said;
  scheduler<> s;
  s.start([&]() -> job {
    co_await with_scope([&](tasks_scope& in) -> job {
      left = &in;
      co_await timing::sleep_for{1h};
    });
  });
  (void)s.step();
  REQUIRE(left);
  try {
    left->start([] {});
  } catch (std::logic_error const& e) {
    said = e.what();
  }
  CHECK_THAT(said, Contains("started in a scope by one of its scheduler's processes"));
}

BACKENDS_TEST_CASE("a handle may get a task after a wait for it was too late", "", on_one_thread,
                   in_random_order, on_sharing<2>, on_stealing<2>) {
  every_frame_dies const check;
  std::atomic<int> ended = 0;
  int const n = rounds(200);
  run_on(chosen, [&]() -> eff<void, proc, timing, tasking<proc, timing>> {
    for (int i = 0; i != n; ++i) {
      task_handle<void> h;
      co_await with_scope([&](auto& s) -> eff<void, proc, timing, tasking<proc, timing>> {
        auto const works = [&]() -> eff<void, proc> {
          co_await proc::yield{};
          co_await proc::yield{};
          ++ended;
        };
        s.start(h, works);
        instant const now = co_await timing::now{};
        bool const in_time = co_await h.wait_until(now);
        s.start(h, works);  // while the first task may end, on another thread
        if (!in_time) co_await h.all();
      });
    }
  });
  CHECK(ended == 2 * n);
}

struct park : op<int> {};
struct parking {
  using operations = op_list<park>;
};
BACKENDS_TEST_CASE("a body that a clause keeps is resumed while tasks of its scope begin and end",
                   "", on_one_thread, in_random_order, on_sharing<2>, on_stealing<2>) {
  every_frame_dies const check;
  int sum = 0;
  int const n = rounds(1000);
  run_on(chosen, [&]() -> eff<void, proc, tasking<proc>> {
    for (int i = 0; i != n; ++i) {
      resumption<int, int> k;
      (void)co_await handle<parking>(
          clauses{[&k](park, resumption<int, int> it) {
            k = std::move(it);
            return 0;
          }},
          []() -> eff<int, parking, proc, tasking<proc>> {
            task_handle<int> light, heavy;
            co_return co_await with_scope([&](auto& s) -> eff<int, parking, proc, tasking<proc>> {
              s.start(light, [] { return 1; });
              s.start(heavy, [&]() -> eff<int, proc, tasking<proc>> {
                co_await proc::yield{};
                co_return 1 + co_await light;  // perhaps as a call
              });
              int all = co_await park{};
              all += co_await park{};
              co_return all + co_await heavy;
            });
          });
      (void)co_await std::move(k)(3);
      sum += co_await std::move(k)(5);
    }
  });
  CHECK(sum == 10 * n);
}
