// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "tests/support/waiting_programs.hpp"

/// Seats, and the number of processes that sit: now, and at most.
struct table {
  explicit table(std::size_t n) : seats(n) {}
  semaphore seats;
  counter sitting = 0;
  counter most = 0;
};
step sits(std::reference_wrapper<table> t, int times) {
  table& at = t;
  for (int i = 0; i != times; ++i) {
    co_await at.seats.acquire();
    int const now = ++at.sitting;
    for (int seen = at.most; seen < now && !at.most.compare_exchange_weak(seen, now);) {
    }
    if (i % 3 == 0) co_await proc::yield{};
    --at.sitting;
    at.seats.release();
  }
}

BACKENDS_TEST_CASE("never more than three of eight processes hold one of three permits", "",
                   on_one_thread, in_random_order, on_locked_stack, on_sharing<1>, on_sharing<2>,
                   on_sharing<8>, on_stealing<3>) {
  every_frame_dies const check;
  table t(3);
  run_on(chosen, [&t]() -> program {
    for (int i = 0; i != 8; ++i) co_await spawn(sits, std::ref(t), rounds(20'000));
  });
  CHECK(t.sitting == 0);
  CHECK(t.most <= 3);
  bool all_are_free = false;
  schedule([&]() -> eff<void, syncing> {
    for (int i = 0; i != 3; ++i) co_await t.seats.acquire();
    bool const fourth = co_await t.seats.try_acquire();
    all_are_free = !fourth;
  });
  CHECK(all_are_free);
}

TEST_CASE(
    "a release of several permits wakes as many waiters, and a free permit is taken at once") {
  auto const p = []() -> everything {
    semaphore s(1);
    auto const says = [](semaphore& from, std::string what) -> everything {
      co_await from.acquire();
      co_await console::print{std::move(what)};
    };
    bool const first = co_await s.try_acquire();
    bool const second = co_await s.try_acquire();
    co_await console::print{std::string(first ? "one " : "") + (second ? "two " : "")};
    for (char const c : {'a', 'b', 'c', 'd'}) co_await spawn(says, std::ref(s), std::string(1, c));
    co_await proc::yield{};
    s.release(0);
    co_await proc::yield{};
    co_await console::print{"."};
    s.release(3);
    for (int i = 0; i != 2; ++i) co_await proc::yield{};
    co_await console::print{"."};
    s.release();
    for (int i = 0; i != 2; ++i) co_await proc::yield{};
  };
  CHECK(printed_by(p) == "one .abc.d");
}

BACKENDS_TEST_CASE("a semaphore may be destroyed as soon as its last waiter has its permit", "",
                   on_one_thread, in_random_order, on_sharing<1>, on_sharing<2>, on_sharing<8>,
                   on_stealing<3>) {
  every_frame_dies const check;
  counter done = 0;
  int const n = rounds(20'000);
  run_on(chosen, [&]() -> program {
    auto const waits_for_two = [](counter& of) -> eff<void, children, proc, syncing> {
      semaphore ended(0);
      auto const ends = [](semaphore& at) -> step {
        at.release();
        co_return;
      };
      co_await spawn(ends, std::ref(ended));
      co_await spawn(ends, std::ref(ended));
      co_await ended.acquire();
      co_await ended.acquire();
      ++of;
    };
    for (int i = 0; i != n; ++i) co_await spawn(waits_for_two, std::ref(done));
  });
  CHECK(done == n);
}

BACKENDS_TEST_CASE("a semaphore that is destroyed cancels its waiters", "", on_one_thread,
                   in_random_order, on_sharing<1>, on_sharing<2>, on_sharing<8>, on_stealing<3>) {
  every_frame_dies const check;
  for (int round = 0; round != rounds(500); ++round) {
    counter found = 0;
    run_on(chosen, [&found]() -> program {
      auto s = std::make_unique<semaphore>(0);
      for (int i = 0; i != 3; ++i)
        co_await spawn(
            [](eff<void, syncing> acquire, counter& n) -> step {
              try {
                co_await std::move(acquire);
              } catch (cancelled const&) {
                ++n;
              }
            },
            s->acquire(), std::ref(found));
      co_await proc::yield{};
      s.reset();
    });
    if (found != 3) FAIL("round " << round << ": " << found);
  }
}

TEST_CASE(
    "a waiter is in a deadlock report, with the place; a process that tried to take cannot fork") {
  every_frame_dies const check;
  auto const waits = []() -> eff<void, syncing> {
    semaphore s(0);
    co_await s.acquire();
  };
  auto const forks = []() -> eff<void, proc, syncing> {
    semaphore s(0);
    (void)co_await s.try_acquire();
    co_await proc::fork{};
  };
  CHECK_THROWS_WITH(schedule(waits),
                    Contains("weft::semaphore::acquire at tests/sched/sync/semaphore_test.cpp"));
  CHECK_THROWS_WITH(schedule(forks),
                    Contains("weft::syncing::own at tests/sched/sync/semaphore_test.cpp"));
}

TEST_CASE("under every schedule at most two of three processes hold a permit, and all do once") {
  auto const found =
      explore([] { return std::make_unique<table>(2); },
              [](std::unique_ptr<table>& t) -> eff<void, spawning<proc, syncing>> {
                for (int i = 0; i != 3; ++i) co_await spawn(sits, std::ref(*t), 1);
              },
              [](std::unique_ptr<table> const& t) { return std::to_string(t->most.load()); });
  CHECK(found.ok());
  CHECK(found.complete);
  REQUIRE(found.outcomes.size() == 2);  // one after the other, or two at once
  CHECK(std::max(found.outcomes[0].result.text, found.outcomes[1].result.text) == "2");
}

TEST_CASE("a process that releases too few permits causes a deadlock under every schedule") {
  struct state {
    semaphore s{1};
    int n = 0;
  };
  auto const found = explore([] { return std::make_unique<state>(); },
                             [](std::unique_ptr<state>& s) -> eff<void, spawning<proc, syncing>> {
                               for (int i = 0; i != 2; ++i)
                                 co_await spawn(
                                     [](state& it) -> step {
                                       co_await it.s.acquire();
                                       if (it.n++ != 0) it.s.release();
                                     },
                                     std::ref(*s));
                             },
                             [](std::unique_ptr<state> const&) { return true; });
  CHECK(found.complete);
  CHECK(found.deadlocks == found.schedules);
}
