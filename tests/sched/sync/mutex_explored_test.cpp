// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"

/// Processes that lock mutexes, under every schedule.

using step = eff<void, proc, syncing>;
using parent = eff<void, spawning<proc, syncing>>;

constexpr int locks_first = __LINE__ + 2;
step locks_both(std::reference_wrapper<mutex> one, std::reference_wrapper<mutex> two) {
  auto const first = co_await one.get().lock();
  co_await proc::yield{};
  auto const second = co_await two.get().lock();
  co_await proc::yield{};
}

TEST_CASE(
    "two processes that lock two mutexes in opposite orders deadlock, and the report says where") {
  struct two_locks {
    mutex a, b;
  };
  auto const found = explore([] { return std::make_unique<two_locks>(); },
                             [](std::unique_ptr<two_locks>& l) -> parent {
                               co_await spawn(locks_both, std::ref(l->a), std::ref(l->b));
                               co_await spawn(locks_both, std::ref(l->b), std::ref(l->a));
                             },
                             [](auto const&) { return true; });
  CHECK(found.complete);
  CHECK(found.schedules == 8);
  CHECK(found.deadlocks == 4);
  CHECK(found.failed == 0);
  CHECK(found.leaked == 0);
  CHECK_FALSE(found.nondeterminism);
  REQUIRE(found.first_failure());
  auto const& text = found.first_failure()->result.text;
  CHECK_THAT(text, Contains("process 1.1 (locks_both #1) in weft::mutex::lock at "
                            "tests/sched/sync/mutex_explored_test.cpp"));
  CHECK_THAT(text, Contains("process 1.2 (locks_both #2) in weft::mutex::lock at "
                            "tests/sched/sync/mutex_explored_test.cpp"));
  auto const since =
      " since tests/sched/sync/mutex_explored_test.cpp:" + std::to_string(locks_first);
  CHECK_THAT(text, Contains(", held by process 1.1" + since));
  CHECK_THAT(text, Contains(", held by process 1.2" + since));
}

struct account {
  mutex free;
  int n = 0;
};
step adds_one(std::reference_wrapper<account> to, bool locks) {
  account& it = to;
  std::optional<mutex::guard> held;
  if (locks) held = co_await it.free.lock();
  int const seen = it.n;
  co_await proc::yield{};
  it.n = seen + 1;
}
exploration adding(std::size_t processes, std::size_t of_them_lock) {
  return explore(
      [] { return std::make_unique<account>(); },
      [=](std::unique_ptr<account>& a) -> parent {
        for (std::size_t i = 0; i != processes; ++i)
          co_await spawn(adds_one, std::ref(*a), i < of_them_lock);
      },
      [=](std::unique_ptr<account> const& a) { return a->n == static_cast<int>(processes); });
}

TEST_CASE("no increment under a lock is lost, and one without the lock is found") {
  auto const all = adding(3, 3);
  CHECK(all.ok());
  CHECK(all.complete);
  auto const not_all = adding(3, 2);
  CHECK(not_all.failed != 0);
  CHECK(not_all.deadlocks == 0);
}

TEST_CASE("locking a free mutex does not end a step") {
  auto const found = explore([] { return std::make_unique<account>(); },
                             [](std::unique_ptr<account>& a) -> parent {
                               for (int i = 0; i != 2; ++i)
                                 co_await spawn(
                                     [](account& it) -> step {
                                       for (int k = 0; k != 3; ++k) {
                                         auto const held = co_await it.free.lock();
                                         ++it.n;
                                       }
                                     },
                                     std::ref(*a));
                             },
                             [](std::unique_ptr<account> const& a) { return a->n == 6; });
  CHECK(found.ok());
  CHECK(found.schedules == 2);
}

TEST_CASE("a process may run while another holds the mutex, and tries to lock when it runs") {
  // The holder takes three steps; the other process runs between any two of them, and tries once,
  // or after them: 3 schedules.  And as many with the roles exchanged.
  auto const found = explore([] { return std::make_unique<account>(); },
                             [](std::unique_ptr<account>& a) -> parent {
                               for (int i = 0; i != 2; ++i)
                                 co_await spawn(
                                     [](account& it) -> step {
                                       auto const held = co_await it.free.lock();
                                       co_await proc::yield{};
                                       co_await proc::yield{};
                                       ++it.n;
                                     },
                                     std::ref(*a));
                             },
                             [](std::unique_ptr<account> const& a) { return a->n == 2; });
  CHECK(found.ok());
  CHECK(found.schedules == 6);
}

TEST_CASE("mutexes in a frame may be unwound before the processes that hold them") {
  // All processes wait for one another and are cancelled, and the one with the mutexes is first.
  auto const found =
      explore([] { return 0; },
              [](int&) -> eff<void, spawning<proc, syncing>, syncing> {
                auto const forks = std::make_unique<std::vector<mutex>>(2);
                gate never;
                co_await spawn(locks_both, std::ref((*forks)[0]), std::ref((*forks)[1]));
                co_await spawn(locks_both, std::ref((*forks)[1]), std::ref((*forks)[0]));
                co_await syncing::wait{never};
              },
              [](int) { return true; });
  CHECK(found.complete);
  CHECK(found.schedules == found.deadlocks);
  CHECK(found.failed == 0);
  CHECK(found.leaked == 0);
}

TEST_CASE("try_lock finds a mutex taken under some schedules, and free under others") {
  struct seen {
    mutex free;
    bool got_it = false;
  };
  auto const found = explore(
      [] { return std::make_unique<seen>(); },
      [](std::unique_ptr<seen>& s) -> parent {
        co_await spawn(
            [](seen& it) -> step {
              auto const held = co_await it.free.lock();
              co_await proc::yield{};
            },
            std::ref(*s));
        co_await spawn(
            [](seen& it) -> step {
              auto const held = co_await it.free.try_lock();
              it.got_it = held.has_value();
            },
            std::ref(*s));
      },
      [](std::unique_ptr<seen> const& s) -> std::string { return s->got_it ? "free" : "taken"; });
  CHECK(found.ok());
  CHECK(found.schedules == 3);
  REQUIRE(found.outcomes.size() == 2);
  for (auto const& o : found.outcomes) CHECK(o.schedules == (o.result.text == "free" ? 2 : 1));
}
