// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "tests/support/completions.hpp"

using children = spawning<proc, completions>;
using program = eff<void, children, proc, completions>;

BACKENDS_TEST_CASE("a completion that is ready before the wait yields its value at once", "",
                   on_one_thread, in_random_order, on_locked_stack, on_sharing<1>, on_sharing<2>,
                   on_sharing<8>, on_stealing<3>) {
  every_frame_dies const check;
  completer<int> source;
  auto result = source.get_completion();
  CHECK_FALSE(result.is_ready());
  source.complete(42);
  CHECK(result.is_ready());
  int got = 0;
  run_on(chosen, [&]() -> program { got = co_await result.wait(); });
  CHECK(got == 42);
}

BACKENDS_TEST_CASE("a process waits for the completion of another, and that one for its own", "",
                   on_one_thread, in_random_order, on_locked_stack, on_sharing<1>, on_sharing<2>,
                   on_sharing<8>, on_stealing<3>) {
  for (int round = 0; round != rounds(200); ++round) {
    every_frame_dies const check;
    std::string got;
    std::string of_itself;
    run_on(chosen, [&]() -> program {
      completer<int> source;
      co_await spawn(takes<int>, source.get_completion(), std::ref(got));
      co_await proc::yield{};
      source.complete(1);
      completer<int> own;
      auto mine = own.get_completion();
      own.complete(2);
      co_await takes<int>(std::move(mine), of_itself);
    });
    CHECK(got == "1");
    CHECK(of_itself == "2");
  }
}

BACKENDS_TEST_CASE("a scheduler sleeps while a completion is due, and reports no deadlock", "",
                   on_one_thread, in_random_order, on_locked_stack, on_sharing<1>, on_sharing<2>,
                   on_sharing<8>, on_stealing<3>) {
  every_frame_dies const check;
  completer<int> source;
  auto result = source.get_completion();
  std::atomic<bool> is_there = false;
  std::thread outside([&] {
    until([&] { return is_there.load(); });
    for (int i = 0; i != 1000; ++i) std::this_thread::yield();  // most likely it sleeps by now
    source.complete(7);
  });
  int got = 0;
  run_on(chosen, [&]() -> program {
    is_there = true;
    got = co_await result.wait();
  });
  outside.join();
  CHECK(got == 7);
}

/// Holds no std::string: ThreadSanitizer does not see the reference counts of runtime_error's.
struct child_failed : std::exception {
  [[nodiscard]] char const* what() const noexcept override { return "failed"; }
};

BACKENDS_TEST_CASE("completions from another thread race with the waits, and none is lost", "",
                   on_one_thread, in_random_order, on_locked_stack, on_sharing<1>, on_sharing<2>,
                   on_sharing<8>, on_stealing<3>) {
  every_frame_dies const check;
  constexpr int many = 20;
  for (int round = 0; round != rounds(500); ++round) {
    std::vector<completer<int>> sources(many);
    std::vector<std::string> got(many);
    std::vector<completion<int>> results;
    for (auto& s : sources) results.push_back(s.get_completion());
    std::thread outside([&, round] {
      for (int i = 0; i != many; ++i) {
        auto s = std::move(sources[static_cast<std::size_t>(i)]);
        if (i % 5 == 4) continue;  // dropped
        if (i % 5 == 3)
          s.fail(std::make_exception_ptr(child_failed()));
        else
          s.complete(round + i);
      }
    });
    run_on(chosen, [&]() -> program {
      for (std::size_t i = 0; i != many; ++i)
        co_await spawn(takes<int>, std::move(results[i]), std::ref(got[i]));
    });
    outside.join();
    int right = 0;
    for (int i = 0; i != many; ++i) {
      std::string const& it = got[static_cast<std::size_t>(i)];
      if (i % 5 == 4)
        right += it == completion_dropped().what();
      else
        right += it == (i % 5 == 3 ? "failed" : std::to_string(round + i));
    }
    CHECK(right == many);
  }
}

BACKENDS_TEST_CASE(
    "a failed completion throws its error, a dropped one completion_dropped, a void one nothing",
    "", on_one_thread, in_random_order, on_locked_stack, on_sharing<1>, on_sharing<2>,
    on_sharing<8>, on_stealing<3>) {
  every_frame_dies const check;
  std::string failed;
  std::string dropped;
  std::string done;
  run_on(chosen, [&]() -> program {
    auto fails = std::make_unique<completer<int>>();
    auto drops = std::make_unique<completer<int>>();
    auto does = std::make_unique<completer<void>>();
    co_await spawn(takes<int>, fails->get_completion(), std::ref(failed));
    co_await spawn(takes<int>, drops->get_completion(), std::ref(dropped));
    co_await spawn(takes<void>, does->get_completion(), std::ref(done));
    co_await proc::yield{};
    fails->fail(std::make_exception_ptr(std::runtime_error("it failed")));
    drops.reset();
    does->complete();
  });
  CHECK(failed == "it failed");
  CHECK_THAT(dropped, Contains("its completer was destroyed without one"));
  CHECK(done == "done");
}

TEST_CASE("a completion is waited for once, and a completer completes once") {
  every_frame_dies const check;
  completer<int> source;
  auto result = source.get_completion();
  CHECK_THAT(text_of<std::logic_error>([&] { (void)source.get_completion(); }),
             Contains("one completion"));
  auto moved = std::move(result);
  auto const waits_for = [](completion<int>& it) {
    schedule([&it]() -> program { co_await it.wait(); });
  };
  CHECK_THAT(text_of<std::logic_error>([&] { waits_for(result); }),  // NOLINT
             Contains("waited for twice, or was moved from"));
  source.complete(1);
  CHECK_THAT(text_of<std::logic_error>([&] { source.complete(2); }), Contains("completes once"));
  CHECK_THAT(text_of<std::logic_error>([&] { source.fail(std::make_exception_ptr(1)); }),
             Contains("completes once"));
  int got = 0;
  schedule([&]() -> program { got = co_await moved.wait(); });
  CHECK(got == 1);
  CHECK_THAT(text_of<std::logic_error>([&] { waits_for(moved); }), Contains("waited for twice"));
  completer<int> other = std::move(source);
  CHECK_THAT(text_of<std::logic_error>([&] { other.complete(3); }), Contains("completes once"));
}

TEST_CASE("an assignment to a completer drops its completion") {
  every_frame_dies const check;
  std::string got;
  schedule({.forkable = false}, [&]() -> program {
    completer<int> source;
    co_await spawn(takes<int>, source.get_completion(), std::ref(got));
    co_await proc::yield{};
    source = completer<int>();
  });
  CHECK(got == completion_dropped().what());
}

TEST_CASE("a completer or a completion may be destroyed unused") {
  every_frame_dies const check;
  {
    completer<int> const alone_in_the_world;
  }
  completer<std::string> source;
  {
    auto const dropped = source.get_completion();
  }
  source.complete("nobody takes it, and it is on the heap");
}

BACKENDS_TEST_CASE("the value of a completion may be move-only", "", on_one_thread, in_random_order,
                   on_locked_stack, on_sharing<2>, on_stealing<3>) {
  every_frame_dies const check;
  int got = 0;
  run_on(chosen, [&]() -> program {
    completer<std::unique_ptr<int>> source;
    auto result = source.get_completion();
    co_await spawn(
        [](completer<std::unique_ptr<int>> s) -> eff<void, proc> {
          co_await proc::yield{};
          s.complete(std::make_unique<int>(5));
        },
        std::move(source));
    auto const value = co_await result.wait();
    got = *value;
  });
  CHECK(got == 5);
}

TEST_CASE("if the constructor of the value throws, complete may be called again") {
  every_frame_dies const check;
  struct even {
    explicit even(int n) : value(std::to_string(n)) {
      if (n % 2) throw std::invalid_argument("odd");
    }
    std::string value;
  };
  completer<even> source;
  auto result = source.get_completion();
  CHECK_THROWS_AS(source.complete(1), std::invalid_argument);
  CHECK_FALSE(result.is_ready());
  source.complete(2);
  std::string got;
  schedule([&]() -> program {
    even const e = co_await result.wait();
    got = e.value;
  });
  CHECK(got == "2");
}

BACKENDS_TEST_CASE("a process cannot fork either if the completion was there before it waited", "",
                   on_one_thread, in_random_order, on_locked_stack, on_sharing<1>, on_sharing<2>,
                   on_stealing<3>) {
  every_frame_dies const check;
  std::string what;
  std::string in_time;
  auto const waits_and_forks = [](std::string& to, bool until) -> program {
    completer<void> source;
    auto result = source.get_completion();
    source.complete();
    if (until)
      (void)co_await result.wait_until(instant::max());
    else
      co_await result.wait();
    try {
      co_await proc::fork{};
    } catch (unforkable const& e) {
      to = e.what();
    }
  };
  fork_on(chosen, [&]() -> program { co_await waits_and_forks(what, false); });
  fork_on(chosen, [&]() -> program { co_await waits_and_forks(in_time, true); });
  CHECK_THAT(what, Contains("weft::completions::wait"));
  CHECK_THAT(in_time, Contains("weft::completions::wait_until"));
}

BACKENDS_TEST_CASE(
    "a process that has waited for a completion cannot fork, and the message names the wait", "",
    on_one_thread, in_random_order, on_locked_stack, on_sharing<1>, on_sharing<2>, on_stealing<3>) {
  every_frame_dies const check;
  std::string what;
  fork_on(chosen, [&what]() -> program {
    completer<void> source;
    auto result = source.get_completion();
    co_await spawn(
        [](completer<void> s) -> eff<void, proc> {
          co_await proc::yield{};
          s.complete();
        },
        std::move(source));
    co_await result.wait();
    try {
      co_await proc::fork{};
    } catch (unforkable const& e) {
      what = e.what();
    }
  });
  CHECK_THAT(what, Contains("weft::proc::fork at tests/sched/sync/completion_test.cpp") &&
                       Contains("weft::completions::wait at "));
}

TEST_CASE(
    "under every schedule the completion of another process arrives, before the wait or after") {
  struct state {
    completer<int> source;
    int got = 0;
  };
  auto const found = explore([] { return std::make_unique<state>(); },
                             [](std::unique_ptr<state>& s) -> program {
                               auto result = s->source.get_completion();
                               for (int i = 1; i != 3; ++i)
                                 co_await spawn(
                                     [](state& to, int) -> eff<void, proc, completions> {
                                       co_await proc::yield{};
                                       if (++to.got == 2) to.source.complete(40);
                                     },
                                     std::ref(*s), i);
                               int const n = co_await result.wait();
                               s->got += n;
                             },
                             [](std::unique_ptr<state>& s) { return s->got == 42; });
  CHECK(found.ok());
  CHECK(found.complete);
  CHECK(found.schedules > 1);
}

TEST_CASE("under every schedule the wait for a dropped completion throws") {
  auto const found = explore([] { return std::string(); },
                             [](std::string& to) -> program {
                               auto source = std::make_unique<completer<int>>();
                               co_await spawn(takes<int>, source->get_completion(), std::ref(to));
                               co_await proc::yield{};
                             },
                             [](std::string& to) { return to == completion_dropped().what(); });
  CHECK(found.ok());
  CHECK(found.schedules > 1);
}
