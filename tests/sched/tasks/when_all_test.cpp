// SPDX-License-Identifier: MIT
#include "weft/sched/tasks/when_all.hpp"

#include "tests/prelude.hpp"

/// Joins of tasks, on every backend.

eff<long, pure> fib(long n) {
  if (n < 2) co_return n;
  auto const [a, b] = co_await when_all(fib(n - 1), fib(n - 2));
  co_return a + b;
}
eff<void, pure> write_fib(long n, long& to) { to = co_await fib(n); }

BACKENDS_TEST_CASE("nested tasks have the results of calls", "", on_one_thread, on_locked_queue,
                   in_random_order, on_sharing<2>, on_stealing<2>) {
  every_frame_dies const check;
  long n = 0;
  run_on(chosen, [&n] { return write_fib(16, n); });
  CHECK(n == 987);
}

eff<std::string, pure> text(int n) { co_return std::to_string(n); }
eff<std::unique_ptr<int>, pure> owned(int n) { co_return std::make_unique<int>(n); }
eff<void, pure> adds(int& to, int n) {
  to += n;
  co_return;
}

BACKENDS_TEST_CASE("each task has its own type of result", "", on_one_thread, on_locked_queue,
                   in_random_order, on_sharing<2>, on_stealing<2>) {
  every_frame_dies const check;
  std::string s;
  int n = 0;
  int sum = 0;
  run_on(chosen, [&]() -> eff<void, pure> {
    auto const [a, b] = co_await when_all(text(7), owned(8), adds(sum, 9));
    s = a;
    n = *b;
  });
  CHECK(s == "7");
  CHECK(n == 8);
  CHECK(sum == 9);
}

eff<void, yields, proc> yielding(int n, std::atomic<int>& done) {
  for (int i = 0; i != n; ++i) co_await proc::yield{};
  ++done;
}
eff<void, yields, proc> tree(int depth, std::atomic<int>& done) {
  if (depth == 0) {
    co_await yielding(3, done);
    co_return;
  }
  co_await proc::yield{};
  co_await when_all(tree(depth - 1, done), tree(depth - 1, done), yielding(depth, done));
}

BACKENDS_TEST_CASE("a task that yields is a process among others", "", on_one_thread,
                   on_locked_queue, in_random_order, on_sharing<2>, on_stealing<2>) {
  every_frame_dies const check;
  std::atomic<int> done = 0;
  run_on(chosen, [&]() -> eff<void, yields, proc> { co_await tree(6, done); });
  CHECK(done == 64 + 63);
}

using mails = tasking<mail>;
eff<int, mail> receives(inbox<int>& in) { co_return co_await in.receive(); }
eff<int, mail> sends(address<int> to) {
  co_await to.send(42);
  co_return 1;
}

BACKENDS_TEST_CASE("tasks that wait for one another are not in a deadlock", "", on_one_thread,
                   on_locked_queue, in_random_order, on_sharing<2>, on_stealing<2>) {
  every_frame_dies const check;
  int got = 0;
  for (bool const is_first : {true, false})
    run_on(chosen, [&]() -> eff<void, mails, mail> {
      auto [in, to] = co_await open<int>();
      if (is_first) {
        auto const [a, b] = co_await when_all(receives(in), sends(to));
        got += a + b;
      } else {
        auto const [a, b] = co_await when_all(sends(to), receives(in));
        got += a + b;
      }
    });
  CHECK(got == 86);
}

TEST_CASE("an empty task is refused, and the others are destroyed") {
  every_frame_dies const check;
  std::array<eff<long, pure>, 3> all{fib(1), fib(2), fib(3)};
  {
    auto const taken = std::move(all[1]);
  }
  CHECK_THROWS_AS(when_all(fib(1), std::move(all[1]), fib(3)), eff_empty);
  CHECK_THROWS_AS(when_all(std::move(all)), eff_empty);
  std::vector<eff<long, pure>> some;
  some.push_back(fib(1));
  some.push_back(std::move(all[1]));
  CHECK_THROWS_AS(when_all(std::move(some)), eff_empty);
}

eff<never, pure> never_returns() {
  co_await fib(1);
  throw wrong("over");
}

BACKENDS_TEST_CASE("tasks that never return may throw", "", on_one_thread, on_locked_queue,
                   in_random_order, on_sharing<2>, on_stealing<2>) {
  every_frame_dies const check;
  int caught = 0;
  run_on(chosen, [&]() -> eff<void, pure> {
    try {
      (void)co_await when_all(fib(1), never_returns());
    } catch (wrong const&) {
      ++caught;
    }
    try {
      std::array two{never_returns(), never_returns()};
      (void)co_await when_all(std::move(two));
    } catch (wrong const&) {
      ++caught;
    } catch (exceptions const&) {  // on several threads both may have begun
      ++caught;
    }
    try {
      std::vector<eff<never, pure>> one;
      one.push_back(never_returns());
      (void)co_await when_all(std::move(one));
    } catch (wrong const&) {
      ++caught;
    }
  });
  CHECK(caught == 3);
}

eff<int, yields, proc> fails_never(int n) {
  co_await proc::yield{};
  co_return n;
}
eff<int, yields, proc> fails_late(char const* what) {
  co_await proc::yield{};
  throw wrong(what);
}

BACKENDS_TEST_CASE("a join throws an exception of its task", "", on_one_thread, on_locked_queue,
                   in_random_order, on_sharing<2>, on_stealing<2>) {
  every_frame_dies const check;
  std::vector<std::string> caught;
  run_on(chosen, [&]() -> eff<void, yields, proc> {
    try {
      co_await when_all(fails_late("late"), fails_never(1));
    } catch (wrong const& e) {
      caught.emplace_back(e.what());
    }
  });
  CHECK(caught == std::vector<std::string>{"late"});
}

/// A light task with a result that has a destructor.
eff<std::string, pure> fails_if(bool it, int n) {
  if (it) throw wrong(std::to_string(n).c_str());
  co_return "a result that is too long to lie in the string itself: " + std::to_string(n);
}

BACKENDS_TEST_CASE("a light task may fail at any place of its join, also as the last one", "",
                   on_one_thread, on_locked_queue, in_random_order, on_sharing<1>, on_sharing<2>,
                   on_stealing<1>, on_stealing<2>) {
  every_frame_dies const check;
  std::vector<std::string> caught;
  run_on(chosen, [&]() -> eff<void, pure> {
    for (int which = 0; which != 4; ++which) {
      try {
        auto const [a, b, c] = co_await when_all(fails_if(which == 0, 0), fails_if(which == 1, 1),
                                                 fails_if(which == 2, 2));
        caught.push_back(c.substr(c.size() - 1));
      } catch (wrong const& e) {
        caught.emplace_back(e.what());
      }
      try {
        std::vector<eff<std::string, pure>> all;
        for (int n = 0; n != 3; ++n) all.push_back(fails_if(which == n, n));
        auto const results = co_await when_all(std::move(all));
        caught.push_back(results[1].substr(results[1].size() - 1));
      } catch (wrong const& e) {
        caught.emplace_back(e.what());
      }
    }
  });
  CHECK(caught == std::vector<std::string>{"0", "0", "1", "1", "2", "2", "2", "1"});
}

BACKENDS_TEST_CASE("an exception leaves nested last tasks one after the other", "", on_one_thread,
                   on_locked_queue, in_random_order, on_sharing<2>, on_stealing<1>,
                   on_stealing<2>) {
  struct nested {
    static eff<std::string, pure> tasks(int depth) {
      if (depth == 0) throw wrong("innermost");
      auto const [a, b] = co_await when_all(fails_if(false, depth), tasks(depth - 1));
      co_return a + b;
    }
  };
  every_frame_dies const check;
  std::string caught;
  run_on(chosen, [&]() -> eff<void, pure> {
    try {
      (void)co_await nested::tasks(50);
    } catch (wrong const& e) {
      caught = e.what();
    }
  });
  CHECK(caught == "innermost");
}

BACKENDS_TEST_CASE("of several tasks of when_all that fail no exception is lost", "", on_one_thread,
                   on_locked_queue, in_random_order, on_sharing<2>, on_stealing<2>) {
  every_frame_dies const check;
  std::vector<std::string> caught;
  run_on(chosen, [&]() -> eff<void, yields, proc> {
    try {
      co_await when_all(fails_late("a"), fails_late("b"), fails_never(3));
    } catch (wrong const& e) {
      caught.emplace_back(e.what());
    } catch (exceptions const& e) {
      for (auto const& f : e.all) try {
          std::rethrow_exception(f.error);
        } catch (wrong const& w) {
          caught.emplace_back(w.what());
        }
    }
  });
  // A task that has not begun when another fails does not begin.
  CHECK(caught.size() >= 1);
  CHECK(caught.size() <= 2);
}

eff<int, pure> fails(char const* what) {
  throw wrong(what);
  co_return 0;
}

BACKENDS_TEST_CASE("after a task has failed its process begins no other", "", on_one_thread,
                   on_stealing<1>, on_sharing<1>) {
  every_frame_dies const check;
  int begun = 0;
  std::string caught;
  run_on(chosen, [&]() -> eff<void, pure> {
    auto const counts = [&]() -> eff<int, pure> {
      ++begun;
      co_return 1;
    };
    try {
      co_await when_all(fails("at once"), counts(), counts());
    } catch (wrong const& e) {
      caught = e.what();
    }
  });
  CHECK(caught == "at once");
  CHECK(begun == 0);
}

BACKENDS_TEST_CASE("tasks in a body that is handled inside its process are handled outside", "",
                   on_one_thread, on_locked_queue, in_random_order, on_sharing<2>, on_stealing<2>) {
  every_frame_dies const check;
  long got = 0;
  run_on(chosen, [&]() -> eff<void, pure> {
    got = co_await handle<state<long>>(state_of(5L), []() -> eff<long, state<long>, pure> {
      auto const [a, b] = co_await when_all(fib(10), fib(11));
      long const n = co_await state<long>::get{};
      co_return a + b + n;
    });
  });
  CHECK(got == 55 + 89 + 5);
}

BACKENDS_TEST_CASE("a million tasks in a row take no native stack", "", on_one_thread,
                   on_stealing<2>) {
  long sum = 0;
  run_on(chosen, [&]() -> eff<void, pure> {
    auto const one = [](long n) -> eff<long, pure> { co_return n; };
    for (long i = 0; i != 200'000; ++i) {
      auto const [a, b, c] = co_await when_all(one(i), one(1), one(-i));
      sum += a + b + c;
    }
  });
  CHECK(sum == 200'000);
}

TEST_CASE("tasks are explored as the processes that they may become") {
  auto const found = explore([] { return std::vector<int>(); },
                             [](std::vector<int>& v) -> eff<void, yields> {
                               auto const notes = [&v](int n) -> eff<void, yields, proc> {
                                 v.push_back(n);
                                 co_await proc::yield{};
                                 v.push_back(n);
                               };
                               co_await when_all(notes(1), notes(2));
                             },
                             [](std::vector<int> const& v) { return v.size() == 4; });
  INFO(found.report());
  CHECK(found.schedules == 6);
  CHECK(found.ok());
}
