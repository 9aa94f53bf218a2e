// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"

/// Programs on threads that steal: features that only stealing has.  The behaviour that all
/// backends share is in the suites of schedule().

using children = spawning<proc>;
using program = eff<void, children, proc>;

eff<void, proc> waits_for(std::reference_wrapper<std::atomic<bool>> flag) {
  while (!flag.get()) co_await proc::yield{};
}
eff<void, proc> sets(std::reference_wrapper<std::atomic<bool>> flag) {
  co_await proc::yield{};
  flag.get() = true;
}

TEST_CASE("on one thread a process that spins with yield lets the process run that it waits for") {
  every_frame_dies const check;
  auto const order = GENERATE(local_order::lifo, local_order::fifo);
  auto const spins_first = GENERATE(false, true);
  std::atomic<bool> flag = false;
  schedule<stealing>({.threads = 1, .forkable = false, .order = order}, [&]() -> program {
    if (spins_first) co_await spawn(waits_for, std::ref(flag));
    co_await spawn(sets, std::ref(flag));
    if (!spins_first) co_await spawn(waits_for, std::ref(flag));
  });
  CHECK(flag);
}

TEST_CASE("on one thread the first process spins until a spawned one has run") {
  every_frame_dies const check;
  auto const order = GENERATE(local_order::lifo, local_order::fifo);
  std::atomic<bool> flag = false;
  schedule<stealing>({.threads = 1, .forkable = false, .order = order}, [&]() -> program {
    co_await spawn(sets, std::ref(flag));
    co_await waits_for(flag);
  });
  CHECK(flag);
}

TEST_CASE(
    "on one thread the process that was spawned last runs first, or last if the options say fifo") {
  every_frame_dies const check;
  auto const order = GENERATE(local_order::lifo, local_order::fifo);
  std::string text;
  schedule<stealing>(
      {.threads = 1, .forkable = false, .order = order},
      []() -> eff<void, spawning<console>, console> {
        for (char const c : {'a', 'b', 'c'})
          co_await spawn(
              [](char letter) -> eff<void, console> {
                co_await console::print{std::string(1, letter)};
              },
              c);
      },
      synchronized(console_to_string(text)));
  CHECK(text == (order == local_order::lifo ? "cba" : "abc"));
}

eff<void, proc> yields(int n, std::reference_wrapper<counter> ended) {
  for (int i = 0; i != n; ++i) co_await proc::yield{};
  ++ended.get();
}

worker_counts sum_of(stealing const& b) {
  worker_counts sum;
  for (unsigned i = 0; i != b.threads(); ++i) {
    auto const c = b.counts(i);
    sum.run += c.run;
    sum.stolen += c.stolen;
    sum.parked += c.parked;
    sum.woken += c.woken;
  }
  return sum;
}

TEST_CASE("the counts of a worker include all steps, also those of processes that yield alone") {
  every_frame_dies const check;
  auto const threads = GENERATE(1u, 2u, 8u);
  auto const processes = GENERATE(0, 1, 50);
  counter ended = 0;
  scheduler<stealing> s(stealing_options{.threads = threads});
  s.start({.forkable = false}, [&]() -> program {
    for (int i = 0; i != processes; ++i) co_await spawn(yields, 500, std::ref(ended));
    co_await yields(1000, ended);
  });
  s.run();
  CHECK(ended == processes + 1);
  auto const sum = sum_of(s.base());
  CHECK(sum.run == static_cast<std::uint64_t>(1001 + processes * 501));
  CHECK(sum.woken <= sum.parked);
  if (threads == 1) CHECK(sum.stolen == 0);
}

struct grows {
  static eff<void, proc> leaf(lives, std::reference_wrapper<counter> ended) {
    co_await proc::yield{};
    ++ended.get();
  }
  static eff<void, spawning<proc>, proc> branch(std::reference_wrapper<counter> alive,
                                                std::reference_wrapper<counter> ended, int n) {
    for (int i = 0; i != n; ++i) co_await spawn(leaf, lives(alive), ended);
  }
};

TEST_CASE("counts can be read while processes run, and only of existing workers") {
  every_frame_dies const check;
  counter ended = 0;
  std::atomic<bool> is_over = false;
  scheduler<stealing> s(stealing_options{.threads = 2});
  s.start({.forkable = false}, [&]() -> program {
    for (int i = 0; i != 20; ++i) co_await spawn(yields, 2'000, std::ref(ended));
  });
  bool grows = true;
  std::thread looks([&] {
    std::uint64_t last = 0;
    while (!is_over) {
      auto const sum = sum_of(s.base());
      grows &= sum.run >= last;
      last = sum.run;
      std::this_thread::yield();
    }
  });
  s.run();
  is_over = true;
  looks.join();
  CHECK(grows);
  CHECK(sum_of(s.base()).run == 20 * 2'001 + 1);
  CHECK_THROWS_AS(s.base().counts(2), std::out_of_range);
}

TEST_CASE("processes that are ready at a stuck thread are stolen, and the counts show it") {
  every_frame_dies const check;
  counter ended = 0;
  scheduler<stealing> s(stealing_options{.threads = 2});
  s.start({.forkable = false}, [&]() -> program {
    for (int i = 0; i != 100; ++i) co_await spawn(yields, i % 3, std::ref(ended));
    until([&] { return ended == 100; });
  });
  s.run();
  CHECK(ended == 100);
  CHECK(sum_of(s.base()).stolen >= 100);
}

TEST_CASE("the option threads says how many threads a stealing backend has") {
  CHECK(stealing().threads() == std::max(1U, std::thread::hardware_concurrency()));
  CHECK(stealing({.threads = 0}).threads() == stealing().threads());
  CHECK(stealing({.threads = 3}).threads() == 3);
  counter ended = 0;
  schedule<stealing>([&ended]() -> program { co_await yields(1, ended); });
  CHECK(ended == 1);
}

TEST_CASE("ten thousand processes run on thirty-two threads") {
  every_frame_dies const check;
  auto const order = GENERATE(local_order::lifo, local_order::fifo);
  int const all = rounds(10'000);
  counter ended = 0;
  scheduler<stealing> s(stealing_options{.threads = 32, .order = order});
  s.start({.forkable = false}, [&]() -> program {
    for (int i = 0; i != all; ++i) co_await spawn(yields, i % 7, std::ref(ended));
  });
  s.run();
  CHECK(ended == all);
  std::uint64_t steps = 1;
  for (int i = 0; i != all; ++i) steps += 1 + static_cast<unsigned>(i % 7);
  auto const ran = sum_of(s.base()).run;
  CHECK(ran >= steps);
  CHECK(ran <= steps + 1);  // the process that spawns may have been asked to wait
}

using forest = eff<void, spawning<spawning<proc>, proc>, proc>;

TEST_CASE("storms of processes that start on all threads at once come to their end") {
  every_frame_dies const check;
  auto const threads = GENERATE(1u, 2u, 8u);
  auto const order = GENERATE(local_order::lifo, local_order::fifo);
  int const each = rounds(2'000);
  counter alive = 0;
  counter ended = 0;
  schedule<stealing>({.threads = threads, .forkable = false, .order = order}, [&]() -> forest {
    for (int i = 0; i != 20; ++i)
      co_await spawn(grows::branch, std::ref(alive), std::ref(ended), each);
  });
  CHECK(ended == 20 * each);
  CHECK(alive == 0);
}

TEST_CASE(
    "a program that is stopped at any moment unwinds every process, once, in a storm or at rest") {
  every_frame_dies const check;
  seeds(is_sanitized ? 20 : 100).for_each([](unsigned seed) {
    dice random(seed);
    unsigned const threads = 1 + random(4);
    int const after = static_cast<int>(random(3000));
    bool const at_rest = random(4) == 0;
    counter alive = 0;
    counter ended = 0;
    counter turns = 0;
    std::stop_source stop;
    std::thread stops([&] {
      until([&] { return turns + ended >= after; });
      stop.request_stop();
    });
    bool was_cancelled = false;
    try {
      schedule<stealing>(
          {.threads = threads, .forkable = false, .stop = stop.get_token()}, [&]() -> forest {
            for (int i = 0; i != 5; ++i)
              co_await spawn(grows::branch, std::ref(alive), std::ref(ended), at_rest ? 1 : 1000);
            for (;; ++turns) co_await proc::yield{};
          });
    } catch (cancelled const&) {
      was_cancelled = true;
    }
    stops.join();
    CAPTURE(seed);
    CHECK(was_cancelled);
    CHECK(alive == 0);
  });
}

TEST_CASE("a scheduler that is shut down while threads steal has no process left") {
  every_frame_dies const check;
  for (int round = 0; round != rounds(100); ++round) {
    counter alive = 0;
    scheduler<stealing> s(stealing_options{.threads = 3});
    s.start([&alive]() -> program {
      auto const never_ends = [](lives) -> eff<void, proc> {
        for (;;) co_await proc::yield{};
      };
      for (int i = 0; i != 100; ++i) co_await spawn(never_ends, lives(alive));
    });
    std::thread runs([&s] { s.run(); });
    // Workers without work steal, and then each worker does every 256 steps.
    until([&] { return sum_of(s.base()).stolen > static_cast<std::uint64_t>(round % 20); });
    auto const report = s.shut_down(instant::max());
    runs.join();
    CHECK(report.in_time);
    CHECK(report.left.empty());
    CHECK(alive == 0);
  }
}
