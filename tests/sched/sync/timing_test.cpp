// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"

using children = spawning<proc, timing>;
using program = eff<void, children, proc, timing>;
using sleeper = eff<void, proc, timing>;

/// The names of the processes that woke, with the times, in order.
class diary {
 public:
  void add(std::string const& who, instant when) {
    std::lock_guard const lock(mutex_);
    text_ += who + std::to_string((when - instant()) / 1ms) + " ";
  }
  [[nodiscard]] std::string text() const { return text_; }

 private:
  std::mutex mutex_;
  std::string text_;
};

sleeper sleeps(std::reference_wrapper<diary> d, std::string who, instant::duration time) {
  co_await timing::sleep_for(time);
  instant const t = co_await timing::now{};
  d.get().add(who, t);
}

// ---- virtual time

BACKENDS_TEST_CASE("virtual time begins at zero, stands still, and jumps to the earliest alarm", "",
                   on_one_thread, in_random_order, on_locked_stack, on_sharing<1>, on_sharing<2>,
                   on_sharing<8>, on_stealing<3>) {
  every_frame_dies const check;
  diary d;
  run_on(chosen, virtual_time(), [&d]() -> program {
    co_await spawn(sleeps, std::ref(d), std::string("c"), 3h);
    co_await spawn(sleeps, std::ref(d), std::string("a"), 10ms);
    co_await spawn(sleeps, std::ref(d), std::string("b"), 20ms);
    for (int i = 0; i != 100; ++i) co_await proc::yield{};
    instant const start = co_await timing::now{};
    d.add("start", start);
    co_await sleeps(d, "d", 15ms);
    co_await sleeps(d, "e", 15ms);
  });
  CHECK(d.text() == "start0 a10 d15 b20 e30 c10800000 ");
}

BACKENDS_TEST_CASE("processes that sleep until the same instant wake in the order of their sleeps",
                   "", on_one_thread, on_locked_queue, on_sharing<1>) {
  every_frame_dies const check;
  diary d;
  run_on(chosen, virtual_time(), [&d]() -> program {
    for (char const c : {'a', 'b', 'c', 'd'})
      co_await spawn(sleeps, std::ref(d), std::string(1, c), 5ms);
    // The first process: it sleeps before the others begin.
    co_await timing::sleep_until(instant() + 5ms);
    d.add("f", co_await timing::now{});
  });
  CHECK(d.text() == "f5 a5 b5 c5 d5 ");
}

BACKENDS_TEST_CASE("a sleep that is over before it begins lets the others go first", "",
                   on_one_thread, on_locked_queue, on_sharing<1>) {
  every_frame_dies const check;
  std::string text;
  run_on(chosen, virtual_time(), [&text]() -> program {
    co_await spawn(
        [](std::string& to) -> sleeper {
          to += "other ";
          co_return;
        },
        std::ref(text));
    co_await timing::sleep_until(instant::min());
    co_await timing::sleep_for(-1h);
    co_await timing::sleep_for(instant::duration::min());
    co_await timing::sleep_for(0ms);
    instant const t = co_await timing::now{};
    text += t == instant() ? "now" : "later";
  });
  CHECK(text == "other now");
}

BACKENDS_TEST_CASE("a process among many sleeping ones sees time increase, and none wakes early",
                   "", on_one_thread, in_random_order, on_sharing<1>, on_sharing<2>, on_sharing<8>,
                   on_stealing<3>) {
  every_frame_dies const check;
  counter early = 0;
  counter late = 0;
  counter done = 0;
  int const many = chosen.threads == 1 ? 200 : 20;
  run_on(chosen, virtual_time(), [&]() -> program {
    for (int i = 0; i != many; ++i)
      co_await spawn(
          [](int n, counter& too_early, counter& too_late, counter& all) -> sleeper {
            for (int k = 0; k != 10; ++k) {
              auto const time = std::chrono::milliseconds(n * 7919 % 31 + k);
              instant const before = co_await timing::now{};
              co_await timing::sleep_for(time);
              instant const after = co_await timing::now{};
              if (after < before + time) ++too_early;
              if (after > before + time) ++too_late;
            }
            ++all;
          },
          i, std::ref(early), std::ref(late), std::ref(done));
  });
  CHECK(done == many);
  CHECK(early == 0);
  CHECK(late == 0);
}

/// Sleeps, and counts how the sleep ended.
sleeper counts_how_it_wakes(lives, instant::duration time, std::reference_wrapper<counter> woken,
                            std::reference_wrapper<counter> found_cancelled) {
  try {
    co_await timing::sleep_for(time);
    ++woken.get();
  } catch (cancelled const&) {
    ++found_cancelled.get();
    throw;
  }
}

// ---- for ever

BACKENDS_TEST_CASE("a process that sleeps for ever is in a deadlock, and the report says where", "",
                   on_one_thread, in_random_order, on_locked_stack, on_sharing<1>, on_sharing<2>,
                   on_sharing<8>, on_stealing<3>) {
  for (bool const is_virtual : {false, true}) {
    every_frame_dies const check;
    auto how = options();
    how.virtual_time = is_virtual;
    std::string what;
    counter alive = 0;
    counter woken = 0;
    counter found_cancelled = 0;
    try {
      run_on(chosen, how, [&]() -> program {
        co_await spawn(counts_how_it_wakes, lives(alive), instant::duration::max(), std::ref(woken),
                       std::ref(found_cancelled));
        co_await timing::sleep_until(instant::max());
      });
    } catch (deadlock const& e) {
      what = e.what();
      CHECK(e.all.size() == 2);
    }
    CHECK_THAT(what,
               Contains("process 1 (lambda) in weft::timing::sleep_until at "
                        "tests/sched/sync/timing_test.cpp") &&
                   Contains("process 1.1 (counts_how_it_wakes) in weft::timing::sleep_for at "));
    CHECK(alive == 0);
    CHECK(woken == 0);
    CHECK(found_cancelled == 1);
  }
}

BACKENDS_TEST_CASE("there is no deadlock while a process sleeps that will wake", "", on_one_thread,
                   on_locked_queue, in_random_order, on_sharing<1>, on_sharing<2>, on_sharing<8>,
                   on_stealing<3>) {
  every_frame_dies const check;
  diary d;
  std::string what;
  try {
    run_on(chosen, virtual_time(), [&d]() -> program {
      co_await spawn(sleeps, std::ref(d), std::string("a"), 5ms);
      co_await spawn(sleeps, std::ref(d), std::string("b"), 6ms);
      co_await timing::sleep_until(instant::max());
    });
  } catch (deadlock const& e) {
    what = e.what();
  }
  CHECK(d.text() == "a5 b6 ");
  CHECK_THAT(what, Contains("process 1 (lambda) in") && !Contains("process 1.1"));
}

// ---- cancelled

BACKENDS_TEST_CASE("a sleeping process is cancelled when another process fails", "", on_one_thread,
                   on_locked_queue, on_sharing<1>, on_sharing<2>, on_sharing<8>, on_stealing<3>) {
  for (int round = 0; round != rounds(200); ++round) {
    every_frame_dies const check;
    counter alive = 0;
    counter woken = 0;
    counter found_cancelled = 0;
    auto const p = [&]() -> program {
      for (int i = 0; i != 5; ++i)
        co_await spawn(counts_how_it_wakes, lives(alive), i % 2 ? 1h : instant::duration::max(),
                       std::ref(woken), std::ref(found_cancelled));
      if (round % 2 == 0) co_await proc::yield{};
      throw std::runtime_error("as asked");
    };
    CHECK_THROWS_WITH(run_on(chosen, p), "as asked");
    if (alive != 0 || woken != 0) FAIL("round " << round);
    if (round % 2 == 0 && chosen.threads == 1 && found_cancelled != 5) FAIL("round " << round);
  }
}

BACKENDS_TEST_CASE("a sleeping process is cancelled by a stop request", "", on_one_thread,
                   in_random_order, on_locked_stack, on_sharing<1>, on_sharing<2>, on_sharing<8>,
                   on_stealing<3>) {
  for (int round = 0; round != rounds(200); ++round) {
    every_frame_dies const check;
    counter alive = 0;
    counter woken = 0;
    counter found_cancelled = 0;
    std::stop_source stop;
    std::atomic<bool> is_there = false;
    std::thread outside([&] {
      until([&] { return is_there.load(); });
      stop.request_stop();
    });
    bool was_cancelled = false;
    try {
      run_on(chosen, options(false, stop.get_token()), [&]() -> program {
        is_there = true;
        co_await counts_how_it_wakes(lives(alive), 1h, woken, found_cancelled);
      });
    } catch (cancelled const&) {
      was_cancelled = true;
    }
    outside.join();
    if (!was_cancelled || woken != 0 || found_cancelled != 1 || alive != 0) FAIL("round " << round);
  }
}

BACKENDS_TEST_CASE("a process that is cancelled and sleeps again is cancelled again, at once", "",
                   on_one_thread, in_random_order, on_sharing<1>, on_sharing<2>, on_stealing<3>) {
  every_frame_dies const check;
  counter times = 0;
  auto const p = [&times]() -> program {
    co_await spawn(
        [](counter& n) -> sleeper {
          for (int i = 0; i != 3; ++i) {
            try {
              co_await timing::sleep_for(1h);
            } catch (cancelled const&) {
              ++n;
            }
          }
        },
        std::ref(times));
    co_await timing::sleep_for(1ms);
    throw std::runtime_error("as asked");
  };
  CHECK_THROWS_WITH(run_on(chosen, virtual_time(), p), "as asked");
  CHECK(times == 3);
}

TEST_CASE("a scheduler that is destroyed while processes sleep unwinds them") {
  every_frame_dies const check;
  counter alive = 0;
  {
    scheduler<> s;
    s.start({.forkable = false}, [&]() -> program {
      for (int i = 0; i != 5; ++i)
        co_await spawn([](lives) -> sleeper { co_await timing::sleep_for(1h); }, lives(alive));
      lives const mine(alive);
      co_await timing::sleep_until(instant::max());
    });
    for (int i = 0; i != 6; ++i) CHECK(s.step());
    CHECK(alive == 6);
    CHECK(s.alive() == 6);
  }
  CHECK(alive == 0);
}

TEST_CASE(
    "a stopped backend of several threads leaves sleeping processes, and the scheduler ends") {
  for (int round = 0; round != rounds(100); ++round) {
    every_frame_dies const check;
    counter alive = 0;
    {
      scheduler<sharing> s(sharing_options{.threads = 2});
      s.start([&]() -> program {
        co_await spawn([](lives) -> sleeper { co_await timing::sleep_for(1h); }, lives(alive));
        co_await proc::yield{};
        s.base().stop();
        for (;;) co_await proc::yield{};
      });
      s.run();
    }
    if (alive != 0) FAIL("round " << round);
  }
}
