// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"

/// Schedules beside and inside one another; and schedulers of several threads that end with work
/// left.

TEST_CASE("a process of an outer schedule waits for one of an inner, and continues where it was") {
  every_frame_dies const check;
  for (int round = 0; round != rounds(100); ++round) {
    int got = 0;
    schedule<sharing>({.threads = 2, .forkable = false},
                      [&got]() -> eff<void, spawning<proc>, proc, completions> {
                        completer<int> source;
                        auto result = source.get_completion();
                        co_await spawn(
                            [](completer<int> s) -> eff<void, proc> {
                              schedule<sharing>({.threads = 2}, [&s]() -> eff<void, proc> {
                                co_await proc::yield{};
                                s.complete(6);
                              });
                              co_return;
                            },
                            std::move(source));
                        got = co_await result.wait();
                      });
    CHECK(got == 6);
  }
}

using program = eff<void, spawning<proc, syncing>, proc, syncing>;

eff<void, proc> counts_up(std::reference_wrapper<counter> n, int yields) {
  for (int i = 0; i != yields; ++i) co_await proc::yield{};
  ++n.get();
}

/// A process and the ten that it spawns.
program family(std::reference_wrapper<counter> n) {
  for (int i = 0; i != 10; ++i) co_await spawn(counts_up, n, i);
  co_await counts_up(n, 3);
}

template <class Outer, class Inner>
void nest() {
  every_frame_dies const check;
  counter n = 0;
  counter caught = 0;
  run_on<Outer>([&]() -> eff<void, spawning<proc>, proc> {
    for (int i = 0; i != 6; ++i)
      co_await spawn(
          [](counter& inside, counter& failed) -> eff<void, proc> {
            co_await proc::yield{};
            run_on<Inner>([&]() -> program { co_await family(inside); });
            co_await proc::yield{};
            try {
              run_on<Inner>([&]() -> program {
                co_await spawn(counts_up, std::ref(inside), 0);
                throw std::runtime_error("inside");
              });
            } catch (std::runtime_error const&) {
              ++failed;
            }
            co_await proc::yield{};
            ++inside;
          },
          std::ref(n), std::ref(caught));
  });
  CHECK(caught == 6);
  CHECK(n >= 6 * 12);  // the process beside the failing one may not have begun
  CHECK(n <= 6 * 13);
}

TEMPLATE_TEST_CASE("a schedule runs inside a process of another, with any two backends", "",
                   on_one_thread, in_random_order, on_sharing<1>, on_sharing<2>, on_sharing<8>,
                   on_stealing<3>) {
  nest<on_one_thread, TestType>();
  nest<TestType, on_one_thread>();
  nest<on_sharing<2>, TestType>();
  nest<TestType, on_sharing<3>>();
}

BACKENDS_TEST_CASE("several threads run schedules of their own at once", "", on_one_thread,
                   in_random_order, on_sharing<1>, on_sharing<2>, on_sharing<8>, on_stealing<3>) {
  every_frame_dies const check;
  counter n = 0;
  std::vector<std::thread> callers;
  for (int i = 0; i != 4; ++i)
    callers.emplace_back([chosen, &n] {
      for (int round = 0; round != rounds(50); ++round)
        run_on(chosen, [&n]() -> program { co_await family(n); });
    });
  for (auto& c : callers) c.join();
  CHECK(n == 4 * rounds(50) * 11);
}

// ---- schedulers that end with work left

TEST_CASE("a scheduler of several threads that was never run unwinds the started process") {
  every_frame_dies const check;
  for (unsigned const threads : {1U, 2U, 8U})
    for (bool const log : {true, false}) {
      counter alive = 0;
      bool has_begun = false;
      {
        scheduler<sharing> s(sharing_options{.threads = threads});
        sharing_options how;
        how.forkable = log;
        s.start(how, [&has_begun, here = lives(alive)]() -> eff<void, proc> {
          has_begun = true;
          co_await proc::yield{};
        });
        CHECK(s.alive() == 1);
        CHECK(alive > 0);
      }
      CHECK(alive == 0);
      CHECK_FALSE(has_begun);
    }
}

TEST_CASE("a scheduler of several threads whose run threw has no process left, and may run again") {
  every_frame_dies const check;
  counter alive = 0;
  scheduler<sharing> s(sharing_options{.threads = 2});
  s.start([&alive]() -> eff<void, spawning<proc>, proc> {
    for (int i = 0; i != 10; ++i)
      co_await spawn(
          [](lives) -> eff<void, proc> {
            for (;;) co_await proc::yield{};
          },
          lives(alive));
    throw std::runtime_error("as asked");
  });
  CHECK_THROWS_WITH(s.run(), "as asked");
  CHECK(s.alive() == 0);
  CHECK(alive == 0);
  s.run();
}

TEST_CASE(
    "a backend of several threads that is stopped leaves the remaining processes where they are") {
  every_frame_dies const check;
  for (int round = 0; round != rounds(500); ++round) {
    counter alive = 0;
    gate g;
    {
      scheduler<sharing> s(sharing_options{.threads = 2});
      s.start([&]() -> program {
        lives const here(alive);
        for (int i = 0; i != 5; ++i) {
          co_await spawn(
              [](lives) -> eff<void, proc> {
                for (;;) co_await proc::yield{};
              },
              lives(alive));
          co_await spawn([](gate& at, lives) -> eff<void, syncing> { co_await syncing::wait{at}; },
                         std::ref(g), lives(alive));
        }
        for (int i = 0; i != 3; ++i) co_await proc::yield{};
        s.base().stop();
        for (;;) co_await proc::yield{};
      });
      s.run();
      if (s.alive() != 11) FAIL("round " << round << ": " << s.alive());
    }
    if (alive != 0) FAIL("round " << round << ": " << alive);
    CHECK(g.waiting() == 0);
  }
}

TEST_CASE(
    "a scheduler of several threads accepts one start, and no run by one of its own processes") {
  every_frame_dies const check;
  scheduler<sharing> s(sharing_options{.threads = 2});
  std::string what;
  s.start([&]() -> eff<void, proc> {
    co_await proc::yield{};
    try {
      s.run();
    } catch (std::logic_error const& e) {
      what = e.what();
    }
  });
  CHECK_THROWS_AS(s.start([]() -> eff<void> { co_return; }), std::logic_error);
  s.run();
  CHECK(what == "weft: a scheduler was told to run by one of its own processes");
}
