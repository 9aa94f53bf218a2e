// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "tests/support/waiting_programs.hpp"

step adds(std::reference_wrapper<shared<long>> to, int times) {
  for (int i = 0; i != times; ++i) {
    co_await to.get().update([](long& n) { ++n; });
    if (i % 100 == 0) co_await proc::yield{};
  }
}

BACKENDS_TEST_CASE("updates of several processes are atomic", "", on_one_thread, in_random_order,
                   on_locked_stack, on_sharing<1>, on_sharing<2>, on_sharing<8>, on_stealing<3>) {
  every_frame_dies const check;
  int const n = rounds(20'000);
  shared<long> sum(0);
  long seen = 0;
  run_on(chosen, [&]() -> program {
    for (int i = 0; i != 8; ++i) co_await spawn(adds, std::ref(sum), n);
    seen = co_await sum.wait_for([&](long s) { return s == 8L * n; });
  });
  CHECK(seen == 8L * n);
}

BACKENDS_TEST_CASE("a read yields a value that was written, and never half of it", "",
                   on_one_thread, in_random_order, on_sharing<1>, on_sharing<2>, on_sharing<8>,
                   on_stealing<3>) {
  every_frame_dies const check;
  shared<std::vector<int>> all_alike(std::vector<int>(10, 0));
  counter halves = 0;
  int const n = rounds(2000);
  run_on(chosen, [&]() -> program {
    for (int i = 1; i != 3; ++i)
      co_await spawn(
          [](shared<std::vector<int>>& to, int self, int times) -> step {
            for (int k = 0; k != times; ++k) {
              co_await to.set(std::vector<int>(10, self * k));
              if (k % 10 == 0) co_await proc::yield{};
            }
          },
          std::ref(all_alike), i, n);
    for (int i = 0; i != 2; ++i)
      co_await spawn(
          [](shared<std::vector<int>>& from, counter& bad, int times) -> step {
            for (int k = 0; k != times; ++k) {
              auto const seen = co_await from.get();
              for (int const x : seen)
                if (x != seen.front()) ++bad;
              if (k % 10 == 0) co_await proc::yield{};
            }
          },
          std::ref(all_alike), std::ref(halves), n);
  });
  CHECK(halves == 0);
}

BACKENDS_TEST_CASE("two processes take turns by waiting for a value, a hundred thousand times", "",
                   on_one_thread, in_random_order, on_sharing<1>, on_sharing<2>, on_sharing<8>,
                   on_stealing<3>) {
  every_frame_dies const check;
  shared<int> now(0);
  int const n = rounds(50'000);
  int at_the_end = 0;
  run_on(chosen, [&]() -> program {
    auto const takes = [](shared<int>& turn, int self, int times) -> step {
      for (int i = 0; i != times; ++i) {
        (void)co_await turn.wait_for([self](int t) { return t % 2 == self; });
        co_await turn.update([](int& t) { ++t; });
      }
    };
    co_await spawn(takes, std::ref(now), 0, n);
    co_await spawn(takes, std::ref(now), 1, n);
    at_the_end = co_await now.wait_for([&](int t) { return t == 2 * n; });
  });
  CHECK(at_the_end == 2 * n);
}

TEST_CASE("an update yields the result of its function, and throws its exceptions") {
  every_frame_dies const check;
  std::string what;
  std::string value;
  std::string was;
  schedule([&]() -> eff<void, syncing> {
    shared<std::string> s("first");
    was = co_await s.update([](std::string& v) { return std::exchange(v, "second"); });
    try {
      co_await s.update([](std::string& v) {
        v += " third";
        throw std::runtime_error("in the middle");
      });
    } catch (std::runtime_error const& e) {
      what = e.what();
    }
    value = co_await s.get();
    shared<int> from_nothing;
    int const zero = co_await from_nothing.get();
    value += std::to_string(zero);
  });
  CHECK(was == "first");
  CHECK(what == "in the middle");
  CHECK(value == "second third0");
}

/// How often the predicates of `n` processes are called, of which each waits for another number, until
/// each has been set.
int checks_of(int n) {
  counter checks = 0;
  run_on<on_one_thread>([&]() -> program {
    shared<int> now(0);
    counter begun = 0;
    for (int i = 1; i <= n; ++i)
      co_await spawn(
          [](shared<int>& at, int mine, counter& asked, counter& waiting) -> step {
            ++waiting;
            int const seen = co_await at.wait_for([&](int value) {
              ++asked;
              return value == mine;
            });
            if (seen != mine) FAIL("woken for " << mine << ", and sees " << seen);
          },
          std::ref(now), i, std::ref(checks), std::ref(begun));
    while (begun != n) co_await proc::yield{};
    for (int i = 1; i <= n; ++i) {
      co_await now.set(i);
      co_await proc::yield{};
      co_await proc::yield{};
    }
  });
  return checks;
}

TEST_CASE("an update wakes only those for whose predicate the value is right") {
  // At first n; by the i-th update those that still wait, n + 1 - i; and each once more in its turn.
  int const n = 100;
  CHECK(checks_of(n) == n + n * (n + 1) / 2 + n);
}

BACKENDS_TEST_CASE("a predicate that throws does so in the process that waits", "", on_one_thread,
                   in_random_order, on_sharing<1>, on_sharing<2>, on_sharing<8>, on_stealing<3>) {
  every_frame_dies const check;
  for (int round = 0; round != rounds(200); ++round) {
    counter thrown = 0;
    run_on(chosen, [&thrown]() -> program {
      shared<int> value(0);
      counter begun = 0;
      for (int i = 0; i != 3; ++i)
        co_await spawn(
            [](shared<int>& s, counter& waiting, counter& n) -> step {
              ++waiting;
              try {
                (void)co_await s.wait_for([](int v) {
                  if (v != 0) throw std::runtime_error("no");
                  return false;
                });
              } catch (std::runtime_error const&) {
                ++n;
              }
            },
            std::ref(value), std::ref(begun), std::ref(thrown));
      while (begun != 3) co_await proc::yield{};
      co_await value.set(1);
      while (thrown != 3) co_await proc::yield{};
    });
    if (thrown != 3) FAIL("round " << round << ": " << thrown);
  }
}

BACKENDS_TEST_CASE("a shared value that is destroyed cancels its waiters", "", on_one_thread,
                   in_random_order, on_sharing<1>, on_sharing<2>, on_sharing<8>, on_stealing<3>) {
  every_frame_dies const check;
  for (int round = 0; round != rounds(500); ++round) {
    counter found = 0;
    run_on(chosen, [&found]() -> program {
      auto s = std::make_unique<shared<int>>(0);
      for (int i = 0; i != 3; ++i)
        co_await spawn(
            [](eff<int, syncing> wait, counter& n) -> step {
              try {
                (void)co_await std::move(wait);
              } catch (cancelled const&) {
                ++n;
              }
            },
            s->wait_for([](int n) { return n != 0; }), std::ref(found));
      co_await proc::yield{};
      s.reset();
    });
    if (found != 3) FAIL("round " << round << ": " << found);
  }
}

TEST_CASE(
    "a waiter is in a deadlock report, with the place; a process that had access cannot fork") {
  every_frame_dies const check;
  auto const waits = []() -> eff<void, syncing> {
    shared<int> s;
    (void)co_await s.wait_for([](int n) { return n == 1; });
  };
  auto const forks = []() -> eff<void, proc, syncing> {
    shared<int> s;
    co_await s.set(1);
    co_await proc::fork{};
  };
  CHECK_THROWS_WITH(schedule(waits),
                    Contains("weft::shared::wait_for at tests/sched/sync/shared_test.cpp"));
  CHECK_THROWS_WITH(schedule(forks),
                    Contains("weft::syncing::own at tests/sched/sync/shared_test.cpp"));
}

/// Increments in two accesses, or in one.
exploration increments(bool at_once) {
  return explore([] { return std::make_unique<shared<int>>(0); },
                 [at_once](std::unique_ptr<shared<int>>& s) -> eff<void, spawning<proc, syncing>> {
                   auto const adds_one = [](shared<int>& to, bool whole) -> step {
                     if (whole) {
                       co_await proc::yield{};
                       co_await to.update([](int& n) { ++n; });
                     } else {
                       int const seen = co_await to.get();
                       co_await proc::yield{};
                       co_await to.set(seen + 1);
                     }
                   };
                   for (int i = 0; i != 2; ++i) co_await spawn(adds_one, std::ref(*s), at_once);
                 },
                 [](std::unique_ptr<shared<int>>& s) {
                   int n = 0;
                   schedule([&]() -> eff<void, syncing> { n = co_await s->get(); });
                   return n == 2;
                 });
}

TEST_CASE(
    "a read and then a write lose an increment under 4 of 6 schedules, an update under none") {
  auto const apart = increments(false);
  CHECK(apart.complete);
  CHECK(apart.schedules == 6);
  CHECK(apart.failed == 4);
  auto const at_once = increments(true);
  CHECK(at_once.ok());
  CHECK(at_once.schedules == 6);
}
