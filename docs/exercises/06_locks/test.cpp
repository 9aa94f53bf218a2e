// SPDX-License-Identifier: MIT
#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "weft/effects/effects.hpp"
#include "weft/sched/schedule.hpp"
#include "weft/sched/tasks/scope.hpp"
#include "weft/testing/testing.hpp"
#ifdef SOLVED
#include "docs/exercises/06_locks/solutions.hpp"
#else
#include "docs/exercises/06_locks/exercises.hpp"
#endif

namespace locks {
namespace {

TEST_CASE("1: the time of ten downloads is predicted", "[1]") {
  semaphore permits(3);
  int took = -1;
  using downloads = eff<void, tasking<syncing, timing>, timing>;
  schedule({.virtual_time = true}, [&]() -> downloads {
    co_await with_scope([&](auto& s) {
      for (int i = 0; i != 10; ++i) s.start(download, std::ref(permits));
    });
    took = static_cast<int>((co_await timing::now{} - instant()) / 1ms);
  });
  CHECK(ms_of_ten_downloads_with_three_permits() == took);
}

TEST_CASE("2: no customer buys a loaf that is not there, and each gets one", "[2]") {
  auto const bakes_one = [](bakery& b) -> eff<void, syncing> {
    co_await with_lock(b.own, [&b] { ++b.loaves; });
    b.baked.notify_one();
  };
  auto const two_customers = [bakes_one](bakery& b) -> eff<void, spawning<syncing>> {
    for (int i = 0; i != 2; ++i) co_await spawn(buys_one, std::ref(b));
    for (int i = 0; i != 2; ++i) co_await spawn(bakes_one, std::ref(b));
  };
  auto const found = explore([] { return bakery(); }, two_customers,
                             [](bakery const& b) { return b.loaves == 0; });
  CHECK(found.ok());
  CHECK(found.complete);
}

struct bank {
  account ann, ben;
};
eff<void, spawning<syncing>> crosswise(bank& b) {
  co_await spawn(transfer, std::ref(b.ann), std::ref(b.ben), 30);
  co_await spawn(transfer, std::ref(b.ben), std::ref(b.ann), 20);
}
eff<void, spawning<syncing>> to_herself(bank& b) {
  co_await spawn(transfer, std::ref(b.ann), std::ref(b.ann), 30);
}

TEST_CASE("3: no order of two transfers deadlocks", "[3]") {
  explore_options const how{.granularity = granularity::parallel, .reduce = true};
  auto const empty = [] { return bank(); };
  auto const both = explore(how, empty, crosswise, [](bank const& b) {
    return b.ann.balance == 90 && b.ben.balance == 110;
  });
  CHECK(both.ok());
  auto const one =
      explore(how, empty, to_herself, [](bank const& b) { return b.ann.balance == 100; });
  CHECK(one.ok());
}

TEST_CASE("4: a permit is given back after work that ends, fails or is cancelled", "[4]") {
  using task = tasking<syncing, timing>;
  semaphore permits(1);
  int done = 0;
  work const works = [&done]() -> eff<void, timing> {
    co_await timing::sleep_for{1ms};
    ++done;
  };
  work const fails = []() -> eff<void, timing> {
    co_await timing::sleep_for{1ms};
    throw std::runtime_error("fails");
  };
  work const lasts = []() -> eff<void, timing> { co_await timing::sleep_for{1h}; };
  std::vector<bool> is_back;
  schedule({.virtual_time = true}, [&]() -> eff<void, task, syncing, timing> {
    for (work const* const w : {&works, &fails, &lasts}) {
      try {
        co_await with_scope({.timeout = 10ms},
                            [&](auto& s) { s.start(with_permit, std::ref(permits), *w); });
      } catch (std::exception const&) {
      }
      bool const has_one = co_await permits.try_acquire();
      is_back.push_back(has_one);
      permits.release(has_one ? 1 : 0);
    }
  });
  CHECK(done == 1);
  CHECK(is_back == std::vector{true, true, true});

  // And the work has the permit while it runs.
  semaphore one(1);
  int at_once = 0;
  int most = 0;
  work const counts = [&]() -> eff<void, timing> {
    most = std::max(most, ++at_once);
    co_await timing::sleep_for{1ms};
    --at_once;
  };
  schedule({.virtual_time = true}, [&]() -> eff<void, task> {
    co_await with_scope([&](auto& s) {
      for (int i = 0; i != 4; ++i) s.start(with_permit, std::ref(one), counts);
    });
  });
  CHECK(most == 1);
}

struct market {
  bounded_queue queue{1};
  std::size_t most = 0;
  std::vector<int> got;
};
eff<void, syncing> produces(market& m, int first) {
  for (int n = first; n != first + 2; ++n) {
    co_await m.queue.push(n);
    m.most = std::max(m.most, m.queue.size());
  }
}
eff<void, syncing> consumes(market& m) {
  int const n = co_await m.queue.pop();
  m.got.push_back(n);
}

TEST_CASE("5: numbers pass through a bounded queue, each once", "[5]") {
  auto const trades = [](market& m) -> eff<void, spawning<syncing>> {
    co_await spawn(consumes, std::ref(m));
    co_await spawn(produces, std::ref(m), 1);
    co_await spawn(produces, std::ref(m), 3);
    for (int i = 0; i != 3; ++i) co_await spawn(consumes, std::ref(m));
  };
  auto const found = explore(
      {.max_schedules = 20'000}, [] { return market(); }, trades,
      [](market const& m) {
        std::vector<int> sorted = m.got;
        std::sort(sorted.begin(), sorted.end());
        return sorted == std::vector{1, 2, 3, 4} && m.most <= 1;
      });
  CHECK(found.ok());
}

TEST_CASE("6: a process keeps an account", "[6]") {
  auto const answers = [](int balance, std::vector<int> amounts) {
    std::vector<bool> result;
    schedule([&]() -> eff<void, spawning<mail>, mail> {
      auto [in, to] = co_await open<payment>();
      auto [answer, back] = co_await open<bool>();
      co_await spawn(keeps_account, std::move(in), balance);
      for (int const amount : amounts) {
        payment p(amount, back);
        co_await to.send(std::move(p));
        bool const is_paid = co_await answer.receive();
        result.push_back(is_paid);
      }
    });
    return result;
  };
  CHECK(answers(100, {70, 40, 30, 1}) == std::vector{true, false, true, false});
  CHECK(answers(0, {1, 0}) == std::vector{false, true});
}

struct page {
  read_write_lock lock;
  int readers = 0;
  int writers = 0;
  int most_readers = 0;
  bool is_broken = false;
};
eff<void, syncing, proc> reads(page& p) {
  co_await p.lock.lock_shared();
  p.most_readers = std::max(p.most_readers, ++p.readers);
  p.is_broken = p.is_broken || p.writers != 0;
  co_await proc::yield{};
  p.is_broken = p.is_broken || p.writers != 0;
  --p.readers;
  p.lock.unlock_shared();
}
eff<void, syncing, proc> writes(page& p) {
  co_await p.lock.lock();
  p.is_broken = p.is_broken || p.readers != 0 || ++p.writers != 1;
  co_await proc::yield{};
  p.is_broken = p.is_broken || p.readers != 0 || --p.writers != 0;
  p.lock.unlock();
}

TEST_CASE("7: several readers, or one writer", "[7]") {
  auto const all_but = [](bool one_writer) {
    return [one_writer](page& p) -> eff<void, spawning<syncing, proc>> {
      co_await spawn(reads, std::ref(p));
      co_await spawn(writes, std::ref(p));
      if (one_writer)
        co_await spawn(reads, std::ref(p));
      else
        co_await spawn(writes, std::ref(p));
    };
  };
  auto const ends = [](page const& p) {
    return p.is_broken ? std::string("broken") : std::to_string(p.most_readers);
  };
  for (auto const g : {granularity::cooperative, granularity::parallel})
    for (bool const one_writer : {true, false}) {
      explore_options const how{.max_schedules = 20'000, .granularity = g};
      auto const found = explore(how, [] { return page(); }, all_but(one_writer), ends);
      CHECK(found.ok());
      bool has_two = false;
      bool is_broken = false;
      for (auto const& o : found.outcomes) {
        has_two = has_two || o.result.text == "2";
        is_broken = is_broken || o.result.text == "broken";
      }
      CHECK(!is_broken);
      CHECK(has_two == one_writer);
    }
}

}  // namespace
}  // namespace locks
