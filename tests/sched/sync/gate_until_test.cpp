// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"

/// Waiting at a gate until a deadline.

using process_of = eff<void, proc, syncing, timing>;
using program = eff<void, spawning<proc, syncing, timing>, proc, syncing, timing>;

struct ends {
  counter woken = 0;
  counter too_late = 0;
  counter cancelled = 0;
};
process_of waits_until(std::reference_wrapper<gate> g, instant t,
                       std::reference_wrapper<ends> how) {
  try {
    bool const woken = co_await syncing::wait_until(g, g.get().epoch(), t);
    ++(woken ? how.get().woken : how.get().too_late);
  } catch (cancelled const&) {
    ++how.get().cancelled;
  }
}

BACKENDS_TEST_CASE(
    "a process that waits at a gate with a deadline is woken before it, or continues at it", "",
    on_one_thread, in_random_order, on_locked_stack, on_sharing<1>, on_sharing<2>, on_sharing<8>,
    on_stealing<3>) {
  every_frame_dies const check;
  gate woken;
  gate forgotten;
  ends in_time;
  ends late;
  bool is_later = false;
  run_on(chosen, virtual_time(), [&]() -> program {
    for (int i = 0; i != 3; ++i) {
      co_await spawn(waits_until, std::ref(woken), instant() + 10ms, std::ref(in_time));
      co_await spawn(waits_until, std::ref(forgotten), instant() + 10ms, std::ref(late));
    }
    co_await timing::sleep_for(9ms);
    co_await syncing::wake(woken, 3);
    co_await timing::sleep_for(2ms);
    is_later = (co_await timing::now{}) == instant() + 11ms;
  });
  CHECK(is_later);
  CHECK(in_time.woken == 3);
  CHECK(late.too_late == 3);
  CHECK(woken.waiting() + forgotten.waiting() == 0);
}

BACKENDS_TEST_CASE(
    "a gate that was woken since its epoch was read does not block a wait with a deadline", "",
    on_one_thread, on_locked_queue, in_random_order, on_sharing<1>, on_sharing<2>, on_stealing<3>) {
  every_frame_dies const check;
  gate g;
  ends how;
  run_on(chosen, virtual_time(), [&]() -> program {
    auto const seen = g.epoch();
    co_await syncing::wake{g};
    bool const woken = co_await syncing::wait_until(g, seen, instant::max());
    bool const still = co_await syncing::wait_until(g, g.epoch(), instant());
    if (woken && !still) ++how.woken;
  });
  CHECK(how.woken == 1);
}

BACKENDS_TEST_CASE("a wake-up does not go to a process whose deadline has passed, but to the next",
                   "", on_one_thread, on_locked_queue, on_sharing<1>) {
  every_frame_dies const check;
  gate g;
  std::string text;
  run_on(chosen, virtual_time(), [&]() -> program {
    auto const says = [](gate& at, instant t, std::string& to, std::string who) -> process_of {
      bool const woken = co_await syncing::wait_until(at, at.epoch(), t);
      to += who + (woken ? " woken " : " late ");
    };
    co_await spawn(says, std::ref(g), instant() + 1ms, std::ref(text), std::string("a"));
    co_await spawn(says, std::ref(g), instant() + 9ms, std::ref(text), std::string("b"));
    co_await spawn(says, std::ref(g), instant() + 9ms, std::ref(text), std::string("c"));
    // As late as the deadline of a, which has passed, while a has not continued yet.
    co_await timing::sleep_until(instant() + 1ms);
    g.release();
    co_await timing::sleep_for(1ms);
  });
  CHECK(text == "a late b woken c late ");
}

BACKENDS_TEST_CASE(
    "a gate that is destroyed cancels a process that waits there with a deadline, once", "",
    on_one_thread, in_random_order, on_locked_stack, on_sharing<1>, on_sharing<2>, on_stealing<3>) {
  every_frame_dies const check;
  ends how;
  run_on(chosen, virtual_time(), [&]() -> program {
    auto g = std::make_unique<gate>();
    co_await spawn(waits_until, std::ref(*g), instant() + 10ms, std::ref(how));
    co_await spawn(waits_until, std::ref(*g), instant() + 1ms, std::ref(how));
    co_await timing::sleep_for(5ms);
    g.reset();
    co_await timing::sleep_for(50ms);
  });
  CHECK(how.cancelled == 1);
  CHECK(how.too_late == 1);
}

BACKENDS_TEST_CASE(
    "a gate may be destroyed when deadlines there have passed and the waiters have not run", "",
    on_one_thread, on_locked_queue, in_random_order, on_sharing<1>) {
  every_frame_dies const check;
  ends how;
  run_on(chosen, virtual_time(), [&]() -> program {
    auto g = std::make_unique<gate>();
    auto const waits_and_ends = [](std::unique_ptr<gate>& at) -> process_of {
      co_await timing::sleep_until(instant() + 5ms);
      at.reset();
    };
    co_await spawn(waits_and_ends, std::ref(g));
    for (int i = 0; i != 2; ++i)
      co_await spawn(waits_until, std::ref(*g), instant() + 5ms, std::ref(how));
    co_await timing::sleep_for(50ms);
  });
  CHECK(how.too_late == 2);
}

BACKENDS_TEST_CASE("processes that all wait at gates are in a deadlock only if no deadline is set",
                   "", on_one_thread, on_locked_queue, in_random_order, on_sharing<1>,
                   on_sharing<2>, on_stealing<3>) {
  every_frame_dies const check;
  gate g;
  ends how;
  std::string what;
  bool had_time = false;
  try {
    run_on(chosen, virtual_time(), [&]() -> program {
      co_await spawn(waits_until, std::ref(g), instant() + 1h, std::ref(how));
      auto const seen = g.epoch();
      (void)co_await syncing::wait_until(g, seen, instant() + 2h);
      had_time = (co_await timing::now{}) == instant() + 2h;
      (void)co_await syncing::wait_until(g, seen, instant::max());
    });
  } catch (deadlock const& e) {
    what = e.what();
    CHECK(e.all.size() == 1);
  }
  CHECK(had_time);
  CHECK(how.too_late == 1);
  CHECK_THAT(what, Contains("process 1 (lambda) in weft::syncing::wait_until at "
                            "tests/sched/sync/gate_until_test.cpp"));
}

BACKENDS_TEST_CASE("a wake-up and a deadline at the same moment end each wait once, in one way", "",
                   on_one_thread, on_locked_queue, in_random_order, on_sharing<1>, on_sharing<2>,
                   on_sharing<8>, on_stealing<3>) {
  int woken = 0;
  int too_late = 0;
  for (int round = 0; round != rounds(20); ++round) {
    every_frame_dies const check;
    gate g;
    ends how;
    counter left = 8;
    int const each = rounds(200);
    run_on(chosen, [&]() -> program {
      for (int i = 0; i != 8; ++i)
        co_await spawn(
            [](gate& at, ends& h, counter& here, int n, int times) -> process_of {
              dice random(static_cast<unsigned>(n));
              for (int k = 0; k != times; ++k) {
                instant const now = co_await timing::now{};
                co_await waits_until(at, now + random(4) * 1us, h);
              }
              --here;
            },
            std::ref(g), std::ref(how), std::ref(left), 8 * round + i, each);
      while (left != 0) {
        co_await syncing::wake{g};
        g.release();
        for (int k = 0; k != 40; ++k) co_await proc::yield{};  // some deadlines pass
      }
    });
    if (how.woken + how.too_late != 8 * each || how.cancelled != 0 || g.waiting() != 0)
      FAIL("round " << round);
    woken += how.woken;
    too_late += how.too_late;
  }
  CHECK(woken > 0);
  CHECK(too_late > 0);
}

BACKENDS_TEST_CASE(
    "a failure cancels processes that wait with a deadline at a gate that others wake", "",
    on_one_thread, in_random_order, on_sharing<1>, on_sharing<2>, on_sharing<8>, on_stealing<3>) {
  for (int round = 0; round != rounds(200); ++round) {
    every_frame_dies const check;
    gate g;
    ends how;
    auto const p = [&]() -> program {
      for (int i = 0; i != 4; ++i)
        co_await spawn(waits_until, std::ref(g), instant::max() - (i % 2) * 1ns, std::ref(how));
      for (int i = 0; i != round % 5; ++i) co_await proc::yield{};
      g.release();
      throw std::runtime_error("as asked");
    };
    CHECK_THROWS_WITH(run_on(chosen, p), "as asked");
    if (how.too_late != 0 || g.waiting() != 0) FAIL("round " << round);
  }
}
