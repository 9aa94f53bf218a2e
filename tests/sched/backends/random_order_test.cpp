// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "tests/support/every_run.hpp"
#include "weft/sched/backends/detail/portable_rng.hpp"

// ---- random numbers

TEST_CASE("random numbers are the same on every machine, so a seed is good for ever") {
  // Computed by another program, from the definitions of MT19937-64 and of Lemire's method.
  weft::detail::portable_rng dice(7);
  std::vector<std::uint64_t> drawn(16);
  for (auto& n : drawn) n = dice.below(6);
  CHECK(drawn == std::vector<std::uint64_t>{4, 5, 0, 5, 0, 0, 4, 5, 1, 4, 4, 3, 2, 1, 4, 1});
  // With this bound half of the draws are rejected.
  weft::detail::portable_rng many(7);
  for (std::uint64_t const n : {8755758169312616625U, 8226447053392166523U, 1303000185656569710U})
    CHECK(many.below((std::uint64_t{1} << 63) + 1) == n);
}

/// The state after a run with that seed.
template <class State, class Program>
State after(std::uint64_t seed, State s, Program p) {
  every_frame_dies const check;
  schedule<random_order>({.seed = seed, .virtual_time = true}, [&s, &p] { return p(s); });
  return s;
}

// ---- the order

TEST_CASE("the same seed gives the same order, and another seed mostly another order") {
  auto const p = independent({4, 4, 4});
  std::set<std::string> orders;
  for (std::uint64_t seed = 0; seed != 50; ++seed) {
    auto const order = after(seed, no_order(), p);
    CHECK(after(seed, no_order(), p) == order);
    orders.insert(order);
  }
  CHECK(orders.size() > 45);  // there are 34 650
}

/// The results of the runs with each seed below n, and how often each came.
template <class State, class Program>
std::map<State, int> outcomes(std::uint64_t n, State const& s, Program p) {
  std::map<State, int> often;
  for (std::uint64_t seed = 0; seed != n; ++seed) ++often[after(seed, s, p)];
  return often;
}

TEST_CASE("three processes of one step run in each of the six orders, about as often") {
  auto const often = outcomes(600, no_order(), independent({1, 1, 1}));
  CHECK(often.size() == 6);
  for (auto const& [order, times] : often) {
    INFO(order);
    CHECK(times > 60);
    CHECK(times < 140);
  }
}

TEST_CASE("a program under random_order has the results that explore finds, and no others") {
  dice random(3);
  for (int i = 0; i != 12; ++i) {
    auto const p = draw_small_program(random);
    std::set<std::string> all;
    for (auto const& r : every_run(make_small_world, running(p), number)) all.insert(r.result.text);
    auto const runs = running(p);
    std::set<std::string> seen;
    for (std::uint64_t seed = 0; seed != 1'000; ++seed) {
      every_frame_dies const check;
      auto w = make_small_world();
      try {
        schedule<random_order>({.seed = seed}, [&] { return runs(w); });
        seen.insert(number(w).text);
      } catch (deadlock const& e) {
        seen.insert(e.what());
      }
    }
    CHECK(seen == all);
  }
}

/// A mutex whose longest waiter does not precede later ones.
struct shop {
  std::string served;
  std::unique_ptr<mutex> till = std::make_unique<mutex>();
};
eff<void, proc, syncing> buys(shop& s, char name) {
  auto const mine = co_await s.till->lock();
  co_await proc::yield{};
  s.served += name;
}
eff<void, spawning<proc, syncing>, proc, syncing> two_come_while_it_is_taken(shop& s) {
  auto mine = co_await s.till->lock();
  co_await spawn(buys, std::ref(s), 'a');
  co_await spawn(buys, std::ref(s), 'b');
  for (int i = 0; i != 20; ++i) co_await proc::yield{};
}

TEST_CASE("the longest waiter for a lock need not be the next to hold it") {
  std::set<std::string> served;
  for (std::uint64_t seed = 0; seed != 50; ++seed)
    served.insert(after(seed, shop(), two_come_while_it_is_taken).served);
  CHECK(served == std::set<std::string>{"ab", "ba"});
}

eff<void, mail> hears(inbox<int> in, std::string& order) {
  (void)co_await in.receive();
  order += 'r';
}
eff<void> passes(std::string& order) {
  order += 'p';
  co_return;
}
eff<void, spawning<mail>, proc, mail> sends(std::string& order) {
  auto [in, to] = co_await open<int>();
  co_await spawn(hears, std::move(in), std::ref(order));
  for (int i = 0; i != 20; ++i) co_await proc::yield{};
  co_await spawn(passes, std::ref(order));
  co_await to.send(1);
  order += 's';
}

TEST_CASE("a sender runs on, and its receiver is one of the ready processes") {
  auto const often = outcomes(100, std::string(), sends);
  CHECK(often.size() == 2);
  CHECK(often.contains("srp"));
  CHECK(often.contains("spr"));
}

// ---- time, and ends

TEST_CASE("virtual time passes when all processes sleep, and the earliest deadline wakes first") {
  auto const sleeps = [](std::string& order, char name, std::chrono::hours h) -> eff<void, timing> {
    co_await timing::sleep_for{h};
    order += name;
  };
  auto const p = [sleeps](std::string& order) -> eff<void, spawning<timing>> {
    co_await spawn(sleeps, std::ref(order), 'c', 3h);
    co_await spawn(sleeps, std::ref(order), 'a', 1h);
    co_await spawn(sleeps, std::ref(order), 'b', 2h);
    co_await spawn(sleeps, std::ref(order), 'x', 2h);
  };
  auto const often = outcomes(30, std::string(), p);
  CHECK(often.size() == 2);
  CHECK(often.contains("abxc"));
  CHECK(often.contains("axbc"));
}

TEST_CASE("a deadlock is found in those orders that have one") {
  auto const eats = [](mutex& one, mutex& other) -> eff<void, proc, syncing> {
    auto const first = co_await one.lock();
    co_await proc::yield{};
    auto const second = co_await other.lock();
  };
  int stuck = 0;
  for (std::uint64_t seed = 0; seed != 100; ++seed) {
    every_frame_dies const check;
    mutex left;
    mutex right;
    try {
      schedule<random_order>({.seed = seed}, [&]() -> eff<void, spawning<proc, syncing>> {
        co_await spawn(eats, std::ref(left), std::ref(right));
        co_await spawn(eats, std::ref(right), std::ref(left));
      });
    } catch (deadlock const&) {
      ++stuck;
    }
  }
  CHECK(stuck > 20);
  CHECK(stuck < 80);
}

TEST_CASE("a run that ends early, by an exception, a destructor or a stop token, leaks nothing") {
  auto const goes_on = []() -> eff<void, proc> {
    auto const kept = std::make_unique<int>(1);
    for (;;) co_await proc::yield{};
  };
  auto const p = [goes_on](int failing_after) -> eff<void, spawning<proc>, proc> {
    for (int i = 0; i != 5; ++i) co_await spawn(goes_on);
    for (int i = 0; i != failing_after; ++i) co_await proc::yield{};
    throw std::runtime_error("as asked");
  };
  SECTION("by an exception") {
    for (std::uint64_t seed = 0; seed != 20; ++seed) {
      every_frame_dies const check;
      CHECK_THROWS_WITH(schedule<random_order>({.seed = seed}, [p] { return p(10); }), "as asked");
    }
  }
  SECTION("in the middle of a run") {
    every_frame_dies const check;
    random_order_options const how{.seed = 3};
    scheduler<random_order> s(how);
    s.start(how, [p] { return p(1'000); });
    for (int i = 0; i != 30; ++i) s.step();
    CHECK(s.alive() == 6);
  }
  SECTION("by a token") {
    every_frame_dies const check;
    std::stop_source source;
    auto const asks = [&source, p]() -> eff<void, spawning<proc>, proc> {
      for (int i = 0; i != 5; ++i) co_await proc::yield{};
      source.request_stop();
      co_await p(1'000);
    };
    CHECK_THROWS_AS(schedule<random_order>({.stop = source.get_token()}, asks), cancelled);
  }
}

TEST_CASE("a fork makes two processes of which either may run first") {
  auto const p = [](std::string& order) -> eff<void, proc> {
    bool const first = co_await proc::fork{};
    order += first ? 't' : 'f';
  };
  auto const often = outcomes(40, std::string(), p);
  CHECK(often.size() == 2);
  CHECK(often.contains("tf"));
  CHECK(often.contains("ft"));
}
