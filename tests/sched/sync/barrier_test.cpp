// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "tests/support/waiting_programs.hpp"

/// Processes that count their rounds; each looks at the counts of all when they have met.
struct race {
  explicit race(std::size_t n) : done(n), meet(static_cast<std::uint32_t>(n)) {}
  // Each entry is written by one process, and read by all after they have met.
  std::vector<int> done;
  barrier meet;
  std::atomic<bool> was_out_of_step = false;
};
step runs(std::reference_wrapper<race> r, std::size_t self, int times) {
  race& in = r;
  for (int i = 1; i <= times; ++i) {
    if (i % 3 == 0) co_await proc::yield{};
    in.done[self] = i;
    co_await in.meet.arrive_and_wait();
    for (int const n : in.done)
      if (n != i) in.was_out_of_step = true;
    co_await in.meet.arrive_and_wait();
  }
}

BACKENDS_TEST_CASE("four processes meet in each round, and each sees what all have done", "",
                   on_one_thread, in_random_order, on_locked_stack, on_sharing<1>, on_sharing<2>,
                   on_sharing<8>, on_stealing<3>) {
  every_frame_dies const check;
  race r(4);
  int const times = rounds(20'000);
  run_on(chosen, [&r, times]() -> program {
    for (std::size_t i = 0; i != 4; ++i) co_await spawn(runs, std::ref(r), i, times);
  });
  CHECK_FALSE(r.was_out_of_step);
  CHECK(r.done == std::vector<int>(4, times));
}

TEST_CASE("a barrier for one lets it through, and a barrier for none is refused") {
  every_frame_dies const check;
  int n = 0;
  schedule([&n]() -> eff<void, syncing> {
    barrier alone_here(1);
    for (; n != 3; ++n) co_await alone_here.arrive_and_wait();
  });
  CHECK(n == 3);
  CHECK_THROWS_AS(barrier(0), std::invalid_argument);
}

BACKENDS_TEST_CASE("of more processes than a barrier is for as many continue as rounds are full",
                   "", on_one_thread, in_random_order, on_sharing<1>, on_sharing<2>, on_sharing<8>,
                   on_stealing<3>) {
  every_frame_dies const check;
  for (int round = 0; round != rounds(300); ++round) {
    barrier three(3);
    counter through = 0;
    try {
      run_on(chosen, [&]() -> program {
        for (int i = 0; i != 8; ++i)
          co_await spawn(
              [](barrier& at, counter& n) -> step {
                co_await at.arrive_and_wait();
                ++n;
              },
              std::ref(three), std::ref(through));
      });
      FAIL("no deadlock");
    } catch (deadlock const& e) {
      if (e.all.size() != 2) FAIL("round " << round << ": " << e.all.size() << " wait");
      CHECK_THAT(e.what(),
                 Contains("weft::barrier::arrive_and_wait at tests/sched/sync/barrier_test.cpp"));
    }
    if (through != 6) FAIL("round " << round << ": " << through);
  }
}

BACKENDS_TEST_CASE("a barrier may be destroyed as soon as one of its processes continues", "",
                   on_one_thread, in_random_order, on_sharing<1>, on_sharing<2>, on_sharing<8>,
                   on_stealing<3>) {
  every_frame_dies const check;
  counter through = 0;
  int const n = rounds(20'000);
  run_on(chosen, [&]() -> program {
    auto const meets_another = [](counter& of) -> program {
      barrier two(2);
      co_await spawn(
          [](eff<void, syncing> meet, counter& count) -> step {
            co_await std::move(meet);
            ++count;
          },
          two.arrive_and_wait(), std::ref(of));
      co_await two.arrive_and_wait();
      ++of;
    };
    for (int i = 0; i != n; ++i) co_await spawn(meets_another, std::ref(through));
  });
  CHECK(through == 2 * n);
}

BACKENDS_TEST_CASE(
    "a barrier that is destroyed in the middle of a round cancels the processes that wait", "",
    on_one_thread, in_random_order, on_sharing<1>, on_sharing<2>, on_sharing<8>, on_stealing<3>) {
  every_frame_dies const check;
  for (int round = 0; round != rounds(500); ++round) {
    counter found = 0;
    run_on(chosen, [&found]() -> program {
      auto b = std::make_unique<barrier>(4);
      for (int i = 0; i != 3; ++i)
        co_await spawn(
            [](eff<void, syncing> meet, counter& n) -> step {
              try {
                co_await std::move(meet);
              } catch (cancelled const&) {
                ++n;
              }
            },
            b->arrive_and_wait(), std::ref(found));
      co_await proc::yield{};
      b.reset();
    });
    if (found != 3) FAIL("round " << round << ": " << found);
  }
}

TEST_CASE("a process that has arrived at a barrier cannot fork") {
  auto const forks = []() -> eff<void, proc, syncing> {
    barrier b(1);
    co_await b.arrive_and_wait();
    co_await proc::fork{};
  };
  CHECK_THROWS_WITH(schedule(forks),
                    Contains("weft::syncing::own at tests/sched/sync/barrier_test.cpp"));
}

TEST_CASE("under every schedule three processes meet, and none continues before all have come") {
  auto const found = explore([] { return std::make_unique<race>(3); },
                             [](std::unique_ptr<race>& r) -> eff<void, spawning<proc, syncing>> {
                               for (std::size_t i = 0; i != 3; ++i)
                                 co_await spawn(runs, std::ref(*r), i, 1);
                             },
                             [](std::unique_ptr<race> const& r) {
                               return !r->was_out_of_step && r->done == std::vector(3, 1);
                             });
  CHECK(found.ok());
  CHECK(found.complete);
  CHECK(found.schedules > 6);
}
