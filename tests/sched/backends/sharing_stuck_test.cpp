// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "tests/support/waiting_programs.hpp"

/// Processes that wait for one another on several threads: none sleeps for ever, and none that
/// could be woken is reported as stuck.

step waits(std::reference_wrapper<gate> at) { co_await syncing::wait{at}; }

BACKENDS_TEST_CASE("a deadlock is found once, and its report names every process", "",
                   on_one_thread, in_random_order, on_sharing<1>, on_sharing<2>, on_sharing<8>,
                   on_stealing<3>) {
  for (int round = 0; round != rounds(1000); ++round) {
    every_frame_dies const check;
    gate one;
    gate two;
    std::string who;
    int found = 0;
    try {
      run_on(chosen, [&]() -> program {
        for (int i = 0; i != 3; ++i) co_await spawn(waits, std::ref(i == 1 ? one : two));
        co_await syncing::wait{two};
      });
    } catch (deadlock const& e) {
      ++found;
      for (auto const& w : e.all) who += w.process.text() + ' ';
    }
    if (found != 1 || who != "1 1.1 1.2 1.3 ") FAIL("round " << round << ": " << who);
    if (one.waiting() + two.waiting() != 0) FAIL("somebody waits still");
  }
}

BACKENDS_TEST_CASE("a deadlock of processes that fork names the clones", "", on_one_thread,
                   in_random_order, on_sharing<1>, on_sharing<2>, on_sharing<8>, on_stealing<3>) {
  for (int round = 0; round != rounds(300); ++round) {
    every_frame_dies const check;
    gate g;
    std::string who;
    try {
      fork_on(chosen, [&g]() -> eff<void, proc, syncing> {
        for (int i = 0; i != 2; ++i) co_await proc::fork{};
        co_await syncing::wait{g};
      });
    } catch (deadlock const& e) {
      for (auto const& w : e.all) who += w.process.text() + ' ';
    }
    if (who != "1 1.1 1.1.1 1.2 ") FAIL("round " << round << ": " << who);
  }
}

BACKENDS_TEST_CASE(
    "a process that catches its deadlock and waits again is cancelled, a hundred times at most", "",
    on_one_thread, in_random_order, on_sharing<1>, on_sharing<2>, on_sharing<8>, on_stealing<3>) {
  every_frame_dies const check;
  gate g;
  counter found = 0;
  auto const p = [&]() -> program {
    for (int i = 0; i != 2; ++i)
      co_await spawn(
          [](gate& at, counter& n) -> step {
            for (;;) try {
                co_await syncing::wait{at};
              } catch (cancelled const&) {
                ++n;
              }
          },
          std::ref(g), std::ref(found));
  };
  CHECK_THROWS_AS(run_on(chosen, p), deadlock);
  CHECK(found == 2 * 100);
}

/// A number that processes count up in turn.
struct turns {
  gate changed;
  counter now = 0;
};

BACKENDS_TEST_CASE("a process that wakes the other just in time causes no deadlock report", "",
                   on_one_thread, in_random_order, on_sharing<1>, on_sharing<2>, on_sharing<8>,
                   on_stealing<3>) {
  int const n = chosen.threads == 8 ? rounds(20'000) : rounds(100'000);
  for (int round = 0; round != n / 100; ++round) {
    every_frame_dies const check;
    counter woken = 0;
    run_on(chosen, [&woken]() -> program {
      // A hundred pairs, each nearly stuck.
      for (int i = 0; i != 100; ++i) {
        auto pair = std::make_shared<turns>();
        co_await spawn(
            [](std::shared_ptr<turns> p, counter& done) -> step {
              for (auto seen = p->changed.epoch(); p->now == 0; seen = p->changed.epoch())
                co_await syncing::wait{p->changed, seen};
              ++done;
            },
            pair, std::ref(woken));
        co_await spawn(
            [](std::shared_ptr<turns> p) -> step {
              p->now = 1;
              co_await syncing::wake{p->changed};
            },
            pair);
      }
    });
    if (woken != 100) FAIL("round " << round << ": " << woken);
  }
}

/// Counts up when it is the turn of process `self` of `all`, `n` times.
step takes_turns(std::reference_wrapper<turns> t, int self, int all, int n) {
  turns& it = t;
  for (int i = 0; i != n; ++i) {
    for (auto seen = it.changed.epoch(); it.now % all != self; seen = it.changed.epoch())
      co_await syncing::wait{it.changed, seen};
    ++it.now;
    co_await syncing::wake{it.changed, static_cast<std::size_t>(all)};
  }
}

BACKENDS_TEST_CASE("two processes that wake each other in turn end, round after round", "",
                   on_one_thread, in_random_order, on_sharing<1>, on_sharing<2>, on_sharing<8>,
                   on_stealing<3>) {
  // Each run ends with all threads idle: that is no deadlock, again and again.
  for (int round = 0; round != rounds(2000); ++round) {
    turns it;
    run_on(chosen, [&it]() -> program {
      co_await spawn(takes_turns, std::ref(it), 1, 2, 3);
      co_await takes_turns(it, 0, 2, 3);
    });
    if (it.now != 6) FAIL("round " << round << ": " << it.now);
  }
}

BACKENDS_TEST_CASE("of a million sleeps at a gate none lasts for ever", "", on_one_thread,
                   in_random_order, on_sharing<1>, on_sharing<2>, on_sharing<8>, on_stealing<3>) {
  every_frame_dies const check;
  // With more threads than cores each wake-up wakes a thread.
  int const n = rounds(chosen.threads == 8 ? 100'000 : 1'000'000) / 2;
  turns it;
  run_on(chosen, [&it, n]() -> program {
    co_await spawn(takes_turns, std::ref(it), 1, 2, n);
    co_await takes_turns(it, 0, 2, n);
  });
  CHECK(it.now == 2 * n);
}

BACKENDS_TEST_CASE("eight processes in a ring take turns at one gate", "", on_one_thread,
                   in_random_order, on_sharing<1>, on_sharing<2>, on_sharing<8>, on_stealing<3>) {
  every_frame_dies const check;
  int const n = rounds(5'000);
  turns it;
  run_on(chosen, [&it, n]() -> program {
    for (int i = 0; i != 8; ++i) co_await spawn(takes_turns, std::ref(it), i, 8, n);
  });
  CHECK(it.now == 8 * n);
}

BACKENDS_TEST_CASE("a gate in the frame of a waiter is destroyed as soon as the waiter continues",
                   "", on_one_thread, in_random_order, on_sharing<1>, on_sharing<2>, on_sharing<8>,
                   on_stealing<3>) {
  every_frame_dies const check;
  for (int round = 0; round != rounds(3000); ++round) {
    counter found = 0;
    run_on(chosen, [&found]() -> program {
      std::atomic<gate*> where = nullptr;
      counter there = 0;
      auto const owner = [](std::atomic<gate*>& w) -> step {
        gate mine;
        w = &mine;
        co_await syncing::wait{mine};
      };
      auto const guest = [](std::atomic<gate*>& w, counter& n, counter& f) -> step {
        while (!w) co_await proc::yield{};
        while (w.load()->waiting() == 0) co_await proc::yield{};
        ++n;
        try {
          co_await syncing::wait{*w.load()};
        } catch (cancelled const&) {
        }
        ++f;
      };
      co_await spawn(owner, std::ref(where));
      co_await spawn(guest, std::ref(where), std::ref(there), std::ref(found));
      while (!where) co_await proc::yield{};
      while (where.load()->waiting() != 2) co_await proc::yield{};
      co_await syncing::wake{*where.load(), 2};
      while (found == 0) co_await proc::yield{};
    });
    if (found != 1) FAIL("round " << round);
  }
}
