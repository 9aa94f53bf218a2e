// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "weft/sched/tasks/when_all.hpp"

/// Scopes whose tasks, or bodies, throw; and tasks that wait for each other.

using mails = tasking<mail>;

BACKENDS_TEST_CASE("a scope throws an exception of its task", "", on_one_thread, in_random_order,
                   on_sharing<2>, on_stealing<2>) {
  every_frame_dies const check;
  std::string caught;
  int told = 0;
  run_on(chosen, [&]() -> eff<void, mails, mail> {
    auto [in, to] = co_await open<int>();
    auto& box = in;
    try {
      co_await with_scope([&](auto& s) -> eff<void, mails, mail> {
        s.start([&]() -> eff<void, mail> {
          try {
            (void)co_await box.receive();  // it never comes
          } catch (cancelled const&) {
            ++told;
            throw;
          }
        });
        s.start([&]() -> eff<void, mail> {
          auto [mine, other] = co_await open<int>();
          co_await other.send(1);
          (void)co_await mine.receive();
          throw wrong("it");
        });
        co_return;
      });
    } catch (wrong const& e) {
      caught = e.what();
    }
    co_await to.send(1);
    (void)co_await box.receive();
  });
  CHECK(caught == "it");
  CHECK(told <= 1);  // none, if the task had not begun by then
}

using sleeps = tasking<timing, proc>;

BACKENDS_TEST_CASE("a body that throws cancels its scope", "", on_one_thread, in_random_order,
                   on_sharing<2>, on_stealing<2>) {
  every_frame_dies const check;
  std::string caught;
  int told = 0;
  run_on(chosen, [&]() -> eff<void, sleeps, timing, proc> {
    try {
      co_await with_scope([&](auto& s) -> eff<void, sleeps, timing, proc> {
        s.start([&]() -> eff<void, sleeps, timing, proc> {
          try {
            co_await timing::sleep_for{1h};
          } catch (cancelled const&) {
            ++told;
            throw;
          }
        });
        for (int i = 0; i != 3; ++i) co_await proc::yield{};
        throw wrong("body");
      });
    } catch (wrong const& e) {
      caught = e.what();
    }
  });
  CHECK(caught == "body");
  CHECK(told <= 1);
}

BACKENDS_TEST_CASE("a process that waits for a task gets its exception, and may continue", "",
                   on_one_thread, in_random_order, on_sharing<2>, on_stealing<2>) {
  every_frame_dies const check;
  std::string caught;
  int after = 0;
  run_on(chosen, [&]() -> eff<void, yields, proc> {
    co_await with_scope([&](auto& s) -> eff<void, yields, proc> {
      task_handle<int> h;
      s.start(h, [&]() -> eff<int, yields, proc> {
        co_await proc::yield{};
        throw wrong("here");
      });
      try {
        (void)co_await h;
      } catch (wrong const& e) {
        caught = e.what();
      }
      co_await proc::yield{};
      ++after;
    });
    ++after;
  });
  CHECK(caught == "here");
  CHECK(after == 2);
}

BACKENDS_TEST_CASE("of several tasks that fail no exception is lost", "", on_one_thread,
                   in_random_order, on_sharing<2>, on_stealing<2>) {
  every_frame_dies const check;
  std::size_t failed = 0;
  run_on(chosen, [&]() -> eff<void, yields, proc> {
    try {
      co_await with_scope([&](auto& s) -> eff<void, yields, proc> {
        task_handle<void> h;
        for (int i = 0; i != 3; ++i)
          s.start(h, [&]() -> eff<void, yields, proc> {
            co_await proc::yield{};
            throw wrong("one");
          });
        co_await h;
      });
    } catch (exceptions const& e) {
      failed = e.all.size();
    }
  });
  CHECK(failed == 3);
}

TEST_CASE("tasks that wait for each other are in the deadlock report as tasks") {
  every_frame_dies const check;
  std::string report;
  try {
    schedule([]() -> eff<void, yields, proc> {
      task_handle<void> a;
      task_handle<void> b;
      co_await with_scope([&](auto& s) -> eff<void, yields, proc> {
        s.start(a, [&]() -> eff<void, yields, proc> {
          co_await proc::yield{};
          co_await b;
        });
        s.start(b, [&]() -> eff<void, yields, proc> { co_await a; });
        co_return;
      });
    });
  } catch (deadlock const& e) {
    report = e.what();
  }
  CHECK_THAT(report,
             Catch::Contains("weft::tasking<>::await at tests/sched/tasks/scope_errors_test.cpp"));
  CHECK_THAT(report, Catch::Contains("weft::tasking<>::leave"));
}

// ---- repeated cancellations

TEST_CASE("a process that heeds its cancellations may be cancelled any number of times") {
  every_frame_dies const check;
  int told = 0;
  bool is_at_end = false;
  run_on<on_one_thread>(virtual_time<on_one_thread>(), [&]() -> eff<void, sleeps, timing, proc> {
    for (int i = 0; i != 300; ++i) try {
        co_await with_scope({.timeout = 1ms}, [](auto&) -> eff<void, sleeps, timing, proc> {
          co_await timing::sleep_for{1h};
        });
      } catch (cancelled const&) {
        ++told;
      }
    is_at_end = true;
  });
  CHECK(told == 300);
  CHECK(is_at_end);
}

eff<void, proc> fails() {
  co_await proc::yield{};
  throw wrong("other");
}
eff<void> nothing() { co_return; }

BACKENDS_TEST_CASE("a process that ignores its cancellations, and only starts tasks, is unwound",
                   "", on_one_thread, in_random_order, on_sharing<2>, on_stealing<2>) {
  for (bool const opens_scopes : {true, false}) {
    every_frame_dies const check;
    int told = 0;
    auto const program = [&]() -> eff<void, spawning<proc>, yields, proc> {
      co_await spawn(fails);
      for (;;) try {
          if (told == 0) co_await proc::yield{};
          if (opens_scopes)
            co_await with_scope([](auto&) -> eff<void, yields, proc> { co_return; });
          else
            co_await when_all(nothing(), nothing());
        } catch (cancelled const&) {
          ++told;
        }
    };
    CHECK_THROWS_AS(run_on(chosen, program), wrong);
    // On several threads a task may be cancelled before the process that waits for it, and that is
    // not counted.
    CHECK(told >= 100);
    CHECK(told < 110);
  }
}

eff<void, yields, proc> never_begun() { co_return; }

TEST_CASE("a body that throws before it is a coroutine has its tasks waited for") {
  every_frame_dies const check;
  int done = 0;
  auto const program = [&]() -> eff<void, yields, proc> {
    int borrowed = 0;
    co_await with_scope([&](auto& s) -> eff<void, yields, proc> {
      s.start([&]() -> eff<void, proc> {
        ++borrowed;
        ++done;
        co_await proc::yield{};
        ++borrowed;
      });
      if (done == 0) throw wrong("no body");
      return never_begun();
    });
  };
  CHECK_THROWS_AS(run_on<on_one_thread>(program), wrong);
  CHECK(done <= 1);
}
