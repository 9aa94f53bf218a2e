// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "tests/support/waiting_programs.hpp"

/// A number that only the holder of the mutex accesses.
struct guarded {
  mutex free;
  int n = 0;
  bool somebody_is_in = false;
  bool met_somebody = false;
};
/// Adds one, in several steps: wrong if another process comes in between.
step adds_one(guarded& it, bool yields) {
  auto const held = co_await it.free.lock();
  it.met_somebody |= std::exchange(it.somebody_is_in, true);
  int const seen = it.n;
  if (yields) co_await proc::yield{};
  it.n = seen + 1;
  it.somebody_is_in = false;
}
step adds(std::reference_wrapper<guarded> it, int times) {
  for (int i = 0; i != times; ++i) co_await adds_one(it, i % 4 == 0);
}

BACKENDS_TEST_CASE("eight processes lock a mutex a hundred thousand times, one at a time", "",
                   on_one_thread, in_random_order, on_locked_stack, on_sharing<1>, on_sharing<2>,
                   on_sharing<8>, on_stealing<3>) {
  every_frame_dies const check;
  int const times = rounds(100'000) / 8;
  guarded it;
  run_on(chosen, [&it, times]() -> program {
    for (int i = 0; i != 8; ++i) co_await spawn(adds, std::ref(it), times);
  });
  CHECK(it.n == 8 * times);
  CHECK_FALSE(it.met_somebody);
}

BACKENDS_TEST_CASE("two processes that wait for one another end, round after round", "",
                   on_one_thread, in_random_order, on_sharing<1>, on_sharing<2>, on_sharing<8>,
                   on_stealing<3>) {
  // Each run ends with all threads idle: a lost wake-up would be a deadlock.
  for (int round = 0; round != rounds(2000); ++round) {
    guarded it;
    run_on(chosen, [&it]() -> program {
      co_await spawn(adds, std::ref(it), 5);
      co_await adds(it, 5);
    });
    if (it.n != 10) FAIL("round " << round << ": " << it.n);
  }
}

TEST_CASE("locking a free mutex does not yield") {
  auto const p = []() -> everything {
    mutex m;
    co_await spawn([]() -> everything { co_await console::print{"another "}; });
    for (int i = 0; i != 2; ++i) {
      auto const held = co_await m.lock();
      co_await console::print{"locked "};
      auto const second = co_await m.try_lock();
      co_await console::print{second ? "twice " : "once "};
    }
    auto const tried = co_await m.try_lock();
    co_await console::print{tried ? "tried " : "not "};
  };
  CHECK(printed_by(p) == "locked once locked once tried another ");
}

TEST_CASE("the longest waiter is woken first, but a process that runs then may lock before it") {
  auto const p = []() -> everything {
    mutex m;
    auto const says = [](mutex& at, std::string what) -> everything {
      auto const held = co_await at.lock();
      co_await console::print{std::move(what)};
    };
    auto held = co_await m.lock();
    for (char const c : {'a', 'b', 'c'}) co_await spawn(says, std::ref(m), std::string(1, c));
    co_await proc::yield{};
    held.unlock();
    co_await says(m, "0");
    for (int i = 0; i != 4; ++i) co_await proc::yield{};
    co_await console::print{"."};
  };
  CHECK(printed_by(p) == "0abc.");
}

TEST_CASE("a guard moves, unlocks early, and unlocks once") {
  std::string what;
  bool free_between = false;
  bool free_when_assigned = false;
  bool own_after_moves = false;
  schedule([&]() -> eff<void, syncing> {
    mutex m;
    mutex other;
    auto first = co_await m.lock();
    auto second = std::move(first);
    own_after_moves = !first.owns() && second.owns();  // NOLINT
    second.unlock();
    try {
      second.unlock();
    } catch (std::logic_error const& e) {
      what = e.what();
    }
    {
      auto const tried = co_await m.try_lock();
      free_between = tried.has_value();
    }
    second = co_await m.lock();
    second = co_await other.lock();
    auto const tried = co_await m.try_lock();
    auto const taken = co_await other.try_lock();
    free_when_assigned = tried && !taken;
  });
  CHECK(own_after_moves);
  CHECK(free_between);
  CHECK(free_when_assigned);
  CHECK_THAT(what, Contains("weft: a guard of a mutex has none"));
}

BACKENDS_TEST_CASE("a guard unlocks when an exception unwinds its process", "", on_one_thread,
                   in_random_order, on_sharing<1>, on_sharing<2>, on_sharing<8>, on_stealing<3>) {
  every_frame_dies const check;
  guarded it;
  counter caught = 0;
  run_on(chosen, [&]() -> program {
    for (int i = 0; i != 20; ++i)
      co_await spawn(
          [](guarded& g, counter& n) -> step {
            try {
              auto const held = co_await g.free.lock();
              co_await proc::yield{};
              throw std::runtime_error("in the middle");
            } catch (std::runtime_error const&) {
              ++n;
            }
            co_await adds_one(g, true);
          },
          std::ref(it), std::ref(caught));
  });
  CHECK(caught == 20);
  CHECK(it.n == 20);
}

BACKENDS_TEST_CASE("a process that has locked a mutex on one thread unlocks it on another", "",
                   on_sharing<2>, on_sharing<8>, on_stealing<3>) {
  every_frame_dies const check;
  for (int round = 0; round != rounds(50); ++round) {
    guarded it;
    bool moved = false;
    run_on(chosen, [&]() -> program {
      std::atomic<std::thread::id> here = std::this_thread::get_id();
      std::atomic<bool> done = false;
      auto held = co_await it.free.lock();
      co_await spawn(adds, std::ref(it), 1);
      // The processes on the same thread hold it until this one is on another thread.
      auto const keeps_thread = [](std::atomic<std::thread::id>& of, std::atomic<bool>& over,
                                   counter& left) -> step {
        while (of.load() == std::this_thread::get_id() && !over) std::this_thread::yield();
        --left;
        co_return;
      };
      counter left = 0;
      while (!moved) {
        auto const now = std::this_thread::get_id();
        moved = now != here.load();
        if (moved) break;
        ++left;
        co_await spawn(keeps_thread, std::ref(here), std::ref(done), std::ref(left));
        co_await proc::yield{};
      }
      done = true;
      held.unlock();
      while (left != 0) co_await proc::yield{};
      co_await adds_one(it, false);
    });
    if (!moved || it.n != 2) FAIL("round " << round << ": " << it.n);
  }
}

BACKENDS_TEST_CASE(
    "a process that locks a mutex that it holds is in a deadlock report, with the place", "",
    on_one_thread, in_random_order, on_sharing<1>, on_sharing<2>, on_stealing<3>) {
  every_frame_dies const check;
  int line = 0;
  try {
    run_on(chosen, [&line]() -> program {
      mutex m;
      auto const held = co_await m.lock();
      line = __LINE__ + 1;
      auto const again = co_await m.lock();
    });
    FAIL("no deadlock");
  } catch (deadlock const& e) {
    REQUIRE(e.all.size() == 1);
    CHECK(e.all[0].process.text() == "1");
    CHECK_THAT(e.all[0].what, Contains("weft::mutex::lock at tests/sched/sync/mutex_test.cpp:" +
                                       std::to_string(line)));
  }
}

/// Counts the processes that lock m, and those that are cancelled instead.
step locks(std::reference_wrapper<mutex> m, std::reference_wrapper<counter> has_it,
           std::reference_wrapper<counter> is_cancelled) {
  try {
    auto const held = co_await m.get().lock();
    ++has_it.get();
  } catch (cancelled const&) {
    ++is_cancelled.get();
    throw;
  }
}

BACKENDS_TEST_CASE("a failure unwinds the holder of a mutex and its waiters", "", on_one_thread,
                   in_random_order, on_sharing<1>, on_sharing<2>, on_sharing<8>, on_stealing<3>) {
  every_frame_dies const check;
  for (int round = 0; round != rounds(500); ++round) {
    mutex m;
    counter has_it = 0;
    counter is_cancelled = 0;
    auto const p = [&]() -> program {
      co_await spawn(
          [](mutex& at, counter& n) -> step {
            auto const held = co_await at.lock();
            ++n;
            for (;;) co_await proc::yield{};
          },
          std::ref(m), std::ref(has_it));
      while (has_it == 0) co_await proc::yield{};
      for (int i = 0; i != 5; ++i)
        co_await spawn(locks, std::ref(m), std::ref(has_it), std::ref(is_cancelled));
      co_await proc::yield{};
      throw std::runtime_error("fails");
    };
    // Some may be cancelled before they begin, or lock the mutex when its holder is unwound.
    CHECK_THROWS_WITH(run_on(chosen, p), "fails");
    if (has_it + is_cancelled > 6) FAIL("round " << round);
    bool is_free = false;
    schedule([&]() -> eff<void, syncing> {
      auto const held = co_await m.try_lock();
      is_free = held.has_value();
    });
    if (!is_free) FAIL("round " << round << ": it is still locked");
  }
}

step holds_for_ever(std::reference_wrapper<mutex> m) {
  gate never;
  auto const held = co_await m.get().lock();
  co_await syncing::wait{never};
}

TEST_CASE("a scheduler is destroyed while one process holds a mutex and another waits for it") {
  every_frame_dies const check;
  mutex m;
  counter has_it = 0;
  counter is_cancelled = 0;
  {
    scheduler<> s;
    s.start({.forkable = false}, [&]() -> program {
      co_await spawn(holds_for_ever, std::ref(m));
      co_await spawn(locks, std::ref(m), std::ref(has_it), std::ref(is_cancelled));
    });
    for (int i = 0; i != 3; ++i) s.step();
    REQUIRE(s.alive() == 2);
  }
  CHECK(has_it == 0);
  schedule([&]() -> program { co_await locks(m, has_it, is_cancelled); });
  CHECK(has_it == 1);
  CHECK(is_cancelled == 0);
}

BACKENDS_TEST_CASE("a mutex that is destroyed cancels its waiters, and its guard may still be used",
                   "", on_one_thread, in_random_order, on_sharing<1>, on_sharing<2>, on_sharing<8>,
                   on_stealing<3>) {
  every_frame_dies const check;
  for (int round = 0; round != rounds(500); ++round) {
    counter has_it = 0;
    counter is_cancelled = 0;
    bool still_owns = false;
    run_on(chosen, [&]() -> program {
      auto m = std::make_unique<mutex>();
      auto const held = co_await m->lock();
      for (int i = 0; i != 3; ++i)
        co_await spawn(
            [](eff<mutex::guard, syncing> lock, counter& has, counter& none) -> step {
              try {
                auto const here = co_await std::move(lock);
                ++has;
              } catch (cancelled const&) {
                ++none;
              }
            },
            m->lock(), std::ref(has_it), std::ref(is_cancelled));
      co_await proc::yield{};
      // The processes that have begun wait, or are about to; and none holds the mutex.
      m.reset();
      while (is_cancelled != 3) co_await proc::yield{};
      still_owns = held.owns();
    });
    if (has_it != 0 || !still_owns) FAIL("round " << round);
  }
}

TEST_CASE(
    "a process that has tried to lock cannot fork any more, and the message names the place") {
  auto const fork_after = [](bool tries) {
    std::string what;
    schedule([&what, tries]() -> eff<void, proc, syncing> {
      mutex m;
      if (tries) {
        auto const held = co_await m.try_lock();
      } else {
        auto const held = co_await m.lock();
      }
      try {
        co_await proc::fork{};
      } catch (unforkable const& e) {
        what = e.what();
      }
    });
    return what;
  };
  for (bool const tries : {true, false})
    CHECK_THAT(fork_after(tries),
               Contains("weft::syncing::own at tests/sched/sync/mutex_test.cpp") &&
                   Contains("cannot be given twice"));
}

TEST_CASE("with_lock yields the result of a function or a computation, and unlocks") {
  every_frame_dies const check;
  std::string text;
  schedule(
      [&]() -> eff<void, console, syncing> {
        mutex m;
        int n = 1;
        int const plain = co_await with_lock(m, [&n] { return ++n; });
        co_await with_lock(m, [&n] { ++n; });
        auto const only_moves = co_await with_lock(m, [n] { return std::make_unique<int>(n); });
        std::string const own = "a closure's own text ";
        auto const says = [own, &m]() -> eff<int, console, syncing> {
          auto const other = co_await m.try_lock();
          co_await console::print{own + (other ? "unlocked " : "locked ")};
          co_return 7;
        };
        int const computed = co_await with_lock(m, says);
        bool thrown = false;
        try {
          co_await with_lock(m, [] { throw std::runtime_error("inside"); });
        } catch (std::runtime_error const&) {
          thrown = true;
        }
        auto const at_the_end = co_await m.try_lock();
        co_await console::print{std::to_string(plain) + std::to_string(*only_moves) +
                                std::to_string(computed) + (thrown ? " thrown" : "") +
                                (at_the_end ? " free" : "")};
      },
      console_to_string(text));
  CHECK(text == "a closure's own text locked 237 thrown free");
}
