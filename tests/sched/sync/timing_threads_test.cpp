// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"

/// Real time: threads park until the first alarm, and one thread always keeps the time.

using sleeper = eff<void, proc, timing>;
using program = eff<void, spawning<proc, timing>, proc, timing>;

TEMPLATE_TEST_CASE("threads park until the first alarm, and sleeping processes wake in order", "",
                   on_one_thread, in_random_order, on_locked_stack, on_sharing<1>, on_sharing<2>,
                   on_sharing<8>, on_stealing<3>) {
  every_frame_dies const check;
  std::atomic<int> woken = 0;
  int order[3] = {};
  counter early = 0;
  run_on<TestType>([&]() -> program {
    instant const start = co_await timing::now{};
    for (int i = 0; i != 3; ++i)
      co_await spawn(
          [](instant t, int& place, std::atomic<int>& n, counter& too_early) -> sleeper {
            co_await timing::sleep_until(t);
            instant const now = co_await timing::now{};
            if (now < t) ++too_early;
            place = ++n;
          },
          start + (3 - i) * 20ms, std::ref(order[i]), std::ref(woken), std::ref(early));
  });
  CHECK(woken == 3);
  CHECK(early == 0);
  // On other backends a process that has woken may be overtaken: several may be due at one look.
  if (std::is_same_v<TestType, on_one_thread> || std::is_same_v<TestType, on_sharing<1>>) {
    CHECK(order[0] == 3);
    CHECK(order[1] == 2);
    CHECK(order[2] == 1);
  }
}

BACKENDS_TEST_CASE("a sleeping process wakes while another process yields all the time", "",
                   on_one_thread, in_random_order, on_locked_stack, on_sharing<1>, on_sharing<2>,
                   on_sharing<8>, on_stealing<3>) {
  every_frame_dies const check;
  std::atomic<bool> is_awake = false;
  gate has_begun;
  using waking = eff<void, proc, timing, syncing>;
  run_on(chosen, [&]() -> eff<void, spawning<proc, timing, syncing>, proc, syncing> {
    auto const seen = has_begun.epoch();
    co_await spawn(
        [](std::atomic<bool>& to, gate& begun) -> waking {
          co_await syncing::wake{begun};
          co_await timing::sleep_for(1ms);
          to = true;
        },
        std::ref(is_awake), std::ref(has_begun));
    // With the newest first it would never begin otherwise.
    co_await syncing::wait{has_begun, seen};
    while (!is_awake) {
      co_await proc::yield{};
    }
  });
  CHECK(is_awake);
}

BACKENDS_TEST_CASE("a sleeping process wakes while all threads but one are stuck in processes", "",
                   on_sharing<2>, on_sharing<3>, on_sharing<8>, on_stealing<3>) {
  for (int round = 0; round != rounds(100); ++round) {
    every_frame_dies const check;
    std::atomic<int> asleep = 0;
    std::atomic<int> awake = 0;
    int const stuck = static_cast<int>(chosen.threads) - 1;
    int const sleepers = 1 + round % 3;
    run_on(chosen, [&]() -> program {
      for (int i = 0; i != 2000; ++i) co_await proc::yield{};  // the other threads sleep by now
      for (int i = 0; i != sleepers; ++i)
        co_await spawn(
            [](std::atomic<int>& before, std::atomic<int>& after, int n) -> sleeper {
              ++before;
              co_await timing::sleep_for(n * 50us);
              ++after;
            },
            std::ref(asleep), std::ref(awake), round % 4 + i);
      while (asleep != sleepers) co_await proc::yield{};
      for (int i = 1; i != stuck; ++i)
        co_await spawn(
            [](std::atomic<int>& n, int all) -> sleeper {
              until([&] { return n == all; });
              co_return;
            },
            std::ref(awake), sleepers);
      until([&] { return awake == sleepers; });
    });
    if (awake != sleepers) FAIL("round " << round);
  }
}

BACKENDS_TEST_CASE("many processes that sleep for short and long times all wake, none early", "",
                   on_one_thread, in_random_order, on_sharing<1>, on_sharing<2>, on_sharing<8>,
                   on_stealing<3>) {
  every_frame_dies const check;
  counter early = 0;
  counter done = 0;
  int const many = 50;
  int const each = rounds(200);
  run_on(chosen, [&]() -> program {
    for (int i = 0; i != many; ++i)
      co_await spawn(
          [](int seed, int times, counter& too_early, counter& all) -> sleeper {
            dice random(static_cast<unsigned>(seed));
            for (int k = 0; k != times; ++k) {
              auto const time = random(20) * 1us;
              instant const before = co_await timing::now{};
              co_await timing::sleep_for(time);
              instant const after = co_await timing::now{};
              if (after < before + time) ++too_early;
            }
            ++all;
          },
          i, each, std::ref(early), std::ref(done));
  });
  CHECK(done == many);
  CHECK(early == 0);
}
