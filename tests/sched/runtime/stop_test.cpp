// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"

/// Stop requests to a schedule.

using program = eff<void, spawning<proc, syncing, completions>, proc, syncing, completions>;

/// Whether the run was stopped; false if all processes ended.
template <class Where, class Program>
bool is_stopped(bool log, std::stop_source const& by, Program p) {
  try {
    run_on<Where>(Where::how(log, by.get_token()), std::move(p));
    return false;
  } catch (cancelled const&) {
    return true;
  }
}

TEMPLATE_TEST_CASE("a program with a stop request before its run does not begin", "", on_one_thread,
                   on_locked_queue, in_random_order, on_sharing<1>, on_sharing<2>, on_sharing<8>,
                   on_stealing<3>) {
  every_frame_dies const check;
  std::stop_source stop;
  stop.request_stop();
  for (bool const log : {true, false}) {
    bool has_begun = false;
    auto const p = [&]() -> program {
      has_begun = true;
      co_await proc::yield{};
    };
    CHECK(is_stopped<TestType>(log, stop, p));
    CHECK_FALSE(has_begun);
  }
}

using step = eff<void, proc, syncing, completions>;

/// The processes' results.
struct tally {
  counter alive = 0;
  counter begun = 0;
  counter cancelled = 0;
  counter otherwise = 0;
};
step yields_on(std::reference_wrapper<tally> t, lives) {
  ++t.get().begun;
  try {
    for (;;) co_await proc::yield{};
  } catch (cancelled const&) {
    ++t.get().cancelled;
    throw;
  }
}
step sleeps_on(std::reference_wrapper<tally> t, std::reference_wrapper<gate> g, lives) {
  ++t.get().begun;
  try {
    co_await syncing::wait{g};
    ++t.get().otherwise;
  } catch (cancelled const&) {
    ++t.get().cancelled;
    throw;
  }
}
step awaits_on(std::reference_wrapper<tally> t, std::reference_wrapper<external_event> g, lives) {
  ++t.get().begun;
  try {
    co_await completions::wait{g};
    ++t.get().otherwise;
  } catch (cancelled const&) {
    ++t.get().cancelled;
    throw;
  }
}

TEMPLATE_TEST_CASE(
    "a stop request cancels all processes that run, sleep or wait for an external event", "",
    on_one_thread, on_locked_queue, in_random_order, on_sharing<1>, on_sharing<2>, on_sharing<8>,
    on_stealing<3>) {
  for (int round = 0; round != rounds(100); ++round) {
    every_frame_dies const check;
    std::stop_source stop;
    tally t;
    gate g;
    external_event never;
    std::thread outside([&] {
      until([&] { return t.begun == 12; });
      stop.request_stop();
    });
    bool const stopped = is_stopped<TestType>(false, stop, [&]() -> program {
      co_await spawn(awaits_on, std::ref(t), std::ref(never), lives(t.alive));
      for (int i = 0; i != 5; ++i) {
        co_await spawn(sleeps_on, std::ref(t), std::ref(g), lives(t.alive));
        co_await spawn(yields_on, std::ref(t), lives(t.alive));
      }
      co_await yields_on(t, lives(t.alive));
    });
    outside.join();
    if (!stopped || t.cancelled != 12 || t.otherwise != 0 || t.alive != 0 || g.waiting() != 0)
      FAIL("round " << round << ": " << t.cancelled << " cancelled, " << t.otherwise << " not");
  }
}

TEMPLATE_TEST_CASE("a stop request wakes a scheduler that sleeps", "", on_one_thread,
                   on_locked_queue, in_random_order, on_sharing<1>, on_sharing<2>, on_sharing<8>,
                   on_stealing<3>) {
  for (int round = 0; round != rounds(300); ++round) {
    every_frame_dies const check;
    std::stop_source stop;
    tally t;
    external_event never;
    gate g;
    std::thread outside([&] {
      until([&] { return t.begun == 2; });
      for (int i = 0; i != 100 * (round % 3); ++i) std::this_thread::yield();
      stop.request_stop();
    });
    bool const stopped = is_stopped<TestType>(false, stop, [&]() -> program {
      co_await spawn(sleeps_on, std::ref(t), std::ref(g), lives(t.alive));
      co_await awaits_on(t, never, lives(t.alive));
    });
    outside.join();
    if (!stopped || t.cancelled != 2 || t.alive != 0) FAIL("round " << round);
  }
}

TEMPLATE_TEST_CASE("a stop request at any moment stops the run, unless it has ended", "",
                   on_one_thread, on_locked_queue, in_random_order, on_sharing<1>, on_sharing<2>,
                   on_sharing<8>, on_stealing<3>) {
  int stopped = 0;
  int ended = 0;
  for (int round = 0; round != rounds(2000); ++round) {
    every_frame_dies const check;
    std::stop_source stop;
    tally t;
    std::atomic<bool> go = false;
    counter done = 0;
    std::thread outside([&] {
      until([&] { return go.load(); });
      for (int i = 0; i != round % 64; ++i) std::this_thread::yield();
      stop.request_stop();
    });
    bool const was_stopped = is_stopped<TestType>(false, stop, [&]() -> program {
      go = true;
      for (int i = 0; i != 20; ++i) {
        co_await spawn(
            [](counter& n, lives) -> step {
              for (int k = 0; k != 20; ++k) co_await proc::yield{};
              ++n;
            },
            std::ref(done), lives(t.alive));
        co_await proc::yield{};
      }
    });
    outside.join();
    ++(was_stopped ? stopped : ended);
    if (t.alive != 0 || (!was_stopped && done != 20)) FAIL("round " << round);
  }
  CHECK(stopped + ended == rounds(2000));
}

TEMPLATE_TEST_CASE("a stop request just as the run begins stops it", "", on_one_thread,
                   in_random_order, on_sharing<1>, on_sharing<2>, on_stealing<3>) {
  std::atomic<std::stop_source const*> next = nullptr;
  std::atomic<bool> over = false;
  std::thread outside([&] {
    counter steps = 0;
    for (int wait = 0; !over; wait = (wait + 1) % 128) {
      auto const* const given = next.exchange(nullptr);
      if (!given) continue;
      // A copy: the original is destroyed as soon as the run is stopped.
      std::stop_source by = *given;
      while (steps < wait) ++steps;  // at another moment each time
      steps = 0;
      by.request_stop();
    }
  });
  int stopped = 0;
  int const n = rounds(TestType::threads == 1 ? 2'000 : 500);
  for (int round = 0; round != n; ++round) {
    std::stop_source const stop;
    next = &stop;
    stopped += is_stopped<TestType>(false, stop, []() -> eff<void, proc> {
      for (;;) co_await proc::yield{};
    });
  }
  over = true;
  outside.join();
  CHECK(stopped == n);
}

TEMPLATE_TEST_CASE("a process may request the stop, even as its last action", "", on_one_thread,
                   on_locked_queue, in_random_order, on_sharing<1>, on_sharing<2>, on_sharing<8>,
                   on_stealing<3>) {
  for (int round = 0; round != rounds(300); ++round) {
    every_frame_dies const check;
    std::stop_source last;
    auto const at_its_end = [&]() -> program {
      co_await proc::yield{};
      last.request_stop();
    };
    CHECK_FALSE(is_stopped<TestType>(false, last, at_its_end));
    std::stop_source middle;
    tally t;
    auto const before_its_end = [&]() -> program {
      co_await spawn(yields_on, std::ref(t), lives(t.alive));
      while (t.begun != 1) co_await proc::yield{};
      middle.request_stop();
    };
    CHECK(is_stopped<TestType>(false, middle, before_its_end));
    CHECK(t.cancelled == 1);
    CHECK(t.alive == 0);
  }
}

TEMPLATE_TEST_CASE("a stop request in the middle of forks unwinds everything", "", on_one_thread,
                   on_locked_queue, in_random_order, on_sharing<1>, on_sharing<2>, on_sharing<8>,
                   on_stealing<3>) {
  counter alive = 0;
  for (int round = 0; round != rounds(200); ++round) {
    every_frame_dies const check;
    std::stop_source stop;
    counter leaves = 0;
    bool const was_stopped = is_stopped<TestType>(true, stop, [&]() -> eff<void, proc> {
      lives const here(alive);
      for (int i = 0; i != 7; ++i) {
        co_await proc::fork{};
        if (i % 3 == 0) co_await proc::yield{};
      }
      if (++leaves == 1 + round % 50) stop.request_stop();
      co_await proc::yield{};
    });
    if (alive != 0 || (!was_stopped && leaves != 128)) FAIL("round " << round);
    CHECK(leaves >= 1 + round % 50);
  }
}

BACKENDS_TEST_CASE("an exception of a cancelled process is thrown in place of cancelled", "",
                   on_one_thread, on_locked_queue, in_random_order, on_sharing<1>, on_sharing<2>,
                   on_sharing<8>, on_stealing<3>) {
  every_frame_dies const check;
  std::stop_source stop;
  auto const p = [&]() -> program {
    std::stop_source& by = stop;
    try {
      for (;;) {
        by.request_stop();
        co_await proc::yield{};
      }
    } catch (cancelled const&) {
    }
    throw std::runtime_error("while it was cleaning up");
  };
  CHECK_THROWS_WITH(run_on(chosen, options(false, stop.get_token()), p),
                    "while it was cleaning up");
}

TEMPLATE_TEST_CASE("a stop token that is not used, or used after the run, has no effect", "",
                   on_one_thread, on_locked_queue, in_random_order, on_sharing<1>, on_sharing<2>,
                   on_sharing<8>, on_stealing<3>) {
  every_frame_dies const check;
  std::stop_source stop;
  counter n = 0;
  auto const p = [&n]() -> eff<void, proc> {
    co_await proc::yield{};
    ++n;
  };
  for (int i = 0; i != 3; ++i) CHECK_FALSE(is_stopped<TestType>(i == 2, stop, p));
  CHECK(n == 3);
  stop.request_stop();
}

TEMPLATE_TEST_CASE("a scheduler that was stopped can be destroyed, or run again", "", one_thread,
                   locked_queue, sharing) {
  every_frame_dies const check;
  for (bool const again : {true, false}) {
    std::stop_source stop;
    tally t;
    typename scheduler<TestType>::options how;
    how.stop = stop.get_token();
    scheduler<TestType> s;
    s.start(how, [&]() -> program {
      co_await spawn(yields_on, std::ref(t), lives(t.alive));
      while (t.begun != 1) co_await proc::yield{};
      stop.request_stop();
    });
    CHECK_THROWS_AS(s.run(), cancelled);
    CHECK(s.alive() == 0);
    CHECK(t.alive == 0);
    if (again) s.run();
  }
}
