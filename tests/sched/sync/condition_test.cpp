// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "tests/support/waiting_programs.hpp"

/// A queue with few places.
struct channel {
  std::size_t room = 3;
  mutex access;
  condition not_full;
  condition not_empty;
  std::deque<int> items;
  std::size_t most = 0;
};
step makes(std::reference_wrapper<channel> c, int n) {
  channel& to = c;
  for (int i = 1; i <= n; ++i) {
    auto held = co_await to.access.lock();
    co_await to.not_full.wait(held, [&to] { return to.items.size() < to.room; });
    to.items.push_back(i);
    to.most = std::max(to.most, to.items.size());
    to.not_empty.notify_one();
  }
}
step uses(std::reference_wrapper<channel> c, int n, std::reference_wrapper<std::atomic<long>> sum) {
  channel& from = c;
  for (int i = 0; i != n; ++i) {
    auto held = co_await from.access.lock();
    co_await from.not_empty.wait(held, [&from] { return !from.items.empty(); });
    sum.get() += from.items.front();
    from.items.pop_front();
    from.not_full.notify_one();
  }
}

BACKENDS_TEST_CASE("items pass from producers to consumers through a queue of three places", "",
                   on_one_thread, in_random_order, on_locked_stack, on_sharing<1>, on_sharing<2>,
                   on_sharing<8>, on_stealing<3>) {
  every_frame_dies const check;
  int const n = rounds(20'000);
  channel c;
  std::atomic<long> sum = 0;
  run_on(chosen, [&]() -> program {
    for (int i = 0; i != 4; ++i) {
      co_await spawn(makes, std::ref(c), n);
      co_await spawn(uses, std::ref(c), n, std::ref(sum));
    }
  });
  CHECK(sum == 4L * n * (n + 1) / 2);
  CHECK(c.items.empty());
  CHECK(c.most <= 3);
}

BACKENDS_TEST_CASE(
    "two processes notify each other a hundred thousand times, and no notification is lost", "",
    on_one_thread, in_random_order, on_sharing<1>, on_sharing<2>, on_sharing<8>, on_stealing<3>) {
  every_frame_dies const check;
  struct turns {
    mutex access;
    condition changed;
    int now = 0;
  };
  turns it;
  int const n = rounds(50'000);
  run_on(chosen, [&it, n]() -> program {
    auto const takes = [](turns& t, int self, int times) -> step {
      auto held = co_await t.access.lock();
      for (int i = 0; i != times; ++i) {
        while (t.now % 2 != self) co_await t.changed.wait(held);
        ++t.now;
        t.changed.notify_one();
      }
    };
    co_await spawn(takes, std::ref(it), 0, n);
    co_await spawn(takes, std::ref(it), 1, n);
  });
  CHECK(it.now == 2 * n);
}

TEST_CASE(
    "the longest waiter is notified first, and a notification without a waiter has no effect") {
  auto const p = []() -> everything {
    mutex m;
    condition c;
    c.notify_one();
    c.notify_all();
    auto const says = [](mutex& at, condition& when, std::string what) -> everything {
      auto held = co_await at.lock();
      co_await when.wait(held);
      co_await console::print{std::move(what)};
    };
    for (char const ch : {'a', 'b', 'c', 'd'})
      co_await spawn(says, std::ref(m), std::ref(c), std::string(1, ch));
    co_await proc::yield{};
    co_await console::print{"0"};
    c.notify_one();
    for (int i = 0; i != 3; ++i) co_await proc::yield{};
    co_await console::print{"1"};
    {
      auto const held = co_await m.lock();
      c.notify_all();
      co_await proc::yield{};
      co_await console::print{"2"};
    }
    for (int i = 0; i != 4; ++i) co_await proc::yield{};
  };
  CHECK(printed_by(p) == "0a12bcd");
}

/// A mutex and a condition, and counts of the processes that wait there.
struct meeting {
  mutex access;
  condition called;
  int waiting = 0;
  counter was_woken = 0;
  counter is_cancelled = 0;
  counter does_not_own = 0;
};
step waits(std::reference_wrapper<meeting> m) {
  meeting& at = m;
  auto held = co_await at.access.lock();
  ++at.waiting;
  try {
    co_await at.called.wait(held);
    ++at.was_woken;
  } catch (cancelled const&) {
    ++at.is_cancelled;
    if (!held.owns()) ++at.does_not_own;
  }
}
step until_they_wait(meeting& at, int n) {
  for (bool all = false; !all;) {
    co_await proc::yield{};
    all = co_await with_lock(at.access, [&at, n] { return at.waiting == n; });
  }
}

BACKENDS_TEST_CASE(
    "notify_one wakes one process, even if the mutex is locked and unlocked meanwhile", "",
    on_one_thread, in_random_order, on_sharing<1>, on_sharing<2>, on_sharing<8>, on_stealing<3>) {
  every_frame_dies const check;
  for (int round = 0; round != rounds(200); ++round) {
    meeting m;
    bool one_by_one = true;
    run_on(chosen, [&]() -> program {
      for (int i = 0; i != 5; ++i) co_await spawn(waits, std::ref(m));
      co_await until_they_wait(m, 5);
      for (int i = 1; i <= 5; ++i) {
        m.called.notify_one();
        while (m.was_woken < i) co_await proc::yield{};
        for (int k = 0; k != 5; ++k) co_await with_lock(m.access, [] {});
        one_by_one &= m.was_woken == i;
      }
    });
    if (!one_by_one) FAIL("round " << round);
  }
}

TEST_CASE("a wait with an empty guard is refused, even if the predicate holds") {
  every_frame_dies const check;
  std::string what;
  std::string what_at_once;
  schedule([&]() -> program {
    meeting m;
    auto held = co_await m.access.lock();
    held.unlock();
    try {
      co_await m.called.wait(held);
    } catch (std::logic_error const& e) {
      what = e.what();
    }
    try {
      co_await m.called.wait(held, [] { return true; });
    } catch (std::logic_error const& e) {
      what_at_once = e.what();
    }
    m.called.notify_all();
  });
  CHECK_THAT(what, Contains("weft: a guard of a mutex has none"));
  CHECK(what_at_once == what);
}

BACKENDS_TEST_CASE("a process that is cancelled at a condition does not own the mutex", "",
                   on_one_thread, in_random_order, on_sharing<1>, on_sharing<2>, on_sharing<8>,
                   on_stealing<3>) {
  every_frame_dies const check;
  for (int round = 0; round != rounds(300); ++round) {
    meeting m;
    auto const p = [&]() -> program {
      for (int i = 0; i != 3; ++i) co_await spawn(waits, std::ref(m));
      co_await until_they_wait(m, 3);
      throw std::runtime_error("fails");
    };
    // If no process is ready, the waiters are cancelled after that, as in a deadlock.
    CHECK_THROWS_WITH(run_on(chosen, p), "fails");
    if (m.is_cancelled != 3 || m.does_not_own != 3) FAIL("round " << round);
    bool is_free = false;
    schedule([&]() -> eff<void, syncing> {
      auto const held = co_await m.access.try_lock();
      is_free = held.has_value();
    });
    if (!is_free) FAIL("round " << round << ": it is still locked");
  }
}

BACKENDS_TEST_CASE(
    "a condition that is destroyed cancels the waiters, which continue without the mutex", "",
    on_one_thread, in_random_order, on_sharing<1>, on_sharing<2>, on_sharing<8>, on_stealing<3>) {
  every_frame_dies const check;
  for (int round = 0; round != rounds(300); ++round) {
    counter n = 0;
    run_on(chosen, [&]() -> program {
      mutex access;
      auto called = std::make_unique<condition>();
      int waiting = 0;
      for (int i = 0; i != 3; ++i)
        co_await spawn(
            [](mutex& at, condition& when, int& there, counter& found) -> step {
              auto held = co_await at.lock();
              auto wait = when.wait(held);
              ++there;
              try {
                co_await std::move(wait);
              } catch (cancelled const&) {
                if (!held.owns()) ++found;
              }
            },
            std::ref(access), std::ref(*called), std::ref(waiting), std::ref(n));
      for (bool all = false; !all;) {
        co_await proc::yield{};
        all = co_await with_lock(access, [&waiting] { return waiting == 3; });
      }
      called.reset();
      while (n != 3) co_await proc::yield{};
    });
    if (n != 3) FAIL("round " << round << ": " << n);
  }
}

TEST_CASE("a scheduler is destroyed while processes wait at a condition") {
  every_frame_dies const check;
  meeting m;
  {
    scheduler<> s;
    s.start({.forkable = false}, [&]() -> program {
      for (int i = 0; i != 2; ++i) co_await spawn(waits, std::ref(m));
    });
    for (int i = 0; i != 3; ++i) s.step();
    m.called.notify_one();  // the process becomes ready, and never runs
  }
  CHECK(m.was_woken == 0);
  m.called.notify_all();
}

// ---- under every schedule

/// Two consumers, and a producer of two items that notifies all, or one.
exploration sharing_out(bool tells_all) {
  struct state {
    mutex access;
    condition changed;
    int for_odd = 0;
    int for_even = 0;
  };
  return explore(
      [] { return std::make_unique<state>(); },
      [tells_all](std::unique_ptr<state>& s) -> eff<void, spawning<proc, syncing>> {
        auto const takes = [](state& from, int state::* mine) -> step {
          auto held = co_await from.access.lock();
          co_await from.changed.wait(held, [&] { return from.*mine != 0; });
          --(from.*mine);
        };
        auto const gives = [](state& to, bool all) -> step {
          {
            auto const held = co_await to.access.lock();
            ++to.for_odd;
            if (all)
              to.changed.notify_all();
            else
              to.changed.notify_one();
          }
          co_await proc::yield{};
          auto const held = co_await to.access.lock();
          ++to.for_even;
          if (all)
            to.changed.notify_all();
          else
            to.changed.notify_one();
        };
        co_await spawn(takes, std::ref(*s), &state::for_odd);
        co_await spawn(takes, std::ref(*s), &state::for_even);
        co_await spawn(gives, std::ref(*s), tells_all);
      },
      [](std::unique_ptr<state> const& s) { return s->for_odd == 0 && s->for_even == 0; });
}

TEST_CASE(
    "notifying one of several processes with different predicates is found to be a deadlock") {
  auto const one = sharing_out(false);
  CHECK(one.complete);
  CHECK(one.deadlocks != 0);
  CHECK(one.failed == 0);
  auto const all = sharing_out(true);
  CHECK(all.complete);
  CHECK(all.ok());
}

TEST_CASE("no schedule of two producers and two consumers with a queue of one place is stuck") {
  struct state {
    channel c;
    std::atomic<long> sum = 0;
  };
  auto const found = explore([] { return std::make_unique<state>(); },
                             [](std::unique_ptr<state>& s) -> eff<void, spawning<proc, syncing>> {
                               s->c.room = 1;
                               for (int i = 0; i != 2; ++i) {
                                 co_await spawn(makes, std::ref(s->c), 1);
                                 co_await spawn(uses, std::ref(s->c), 1, std::ref(s->sum));
                               }
                             },
                             [](std::unique_ptr<state> const& s) { return s->sum == 2; });
  CHECK(found.complete);
  CHECK(found.ok());
  CHECK(found.schedules > 24);
}
