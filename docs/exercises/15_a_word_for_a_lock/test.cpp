// SPDX-License-Identifier: MIT
#include <catch2/catch.hpp>
#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "weft/effects/effects.hpp"
#include "weft/sched/schedule.hpp"
#include "weft/sched/sharing.hpp"
#include "weft/testing/testing.hpp"
#ifdef SOLVED
#include "docs/exercises/15_a_word_for_a_lock/solutions.hpp"
#else
#include "docs/exercises/15_a_word_for_a_lock/exercises.hpp"
#endif

namespace a_word_for_a_lock {
namespace {

TEST_CASE("1: squares are computed by many processes", "[1]") {
  CHECK(sum_of_squares(3, 2) == 14);
  CHECK(sum_of_squares(0, 2) == 0);
  CHECK(sum_of_squares(1000, 4) == 333833500);
}

eff<void, proc, report> reports(char letter, int times) {
  for (int i = 0; i != times; ++i) {
    co_await report::letter{letter};
    if (i % 100 == 0) co_await proc::yield{};
  }
}

TEST_CASE("2: letters that several threads report are all counted", "[2]") {
  counts_letters handler;
  schedule<sharing>(
      {.threads = 4},
      []() -> eff<void, spawning<proc, report>> {
        for (int i = 0; i != 8; ++i)
          co_await spawn(reports, static_cast<char>('a' + i / 3), 1000 * (i + 1));
      },
      handler);
  CHECK(handler.count('a') == 6000);
  CHECK(handler.count('b') == 15000);
  CHECK(handler.count('c') == 15000);
  CHECK(handler.count('d') == 0);
}

using threads = eff<void, spawning<proc, syncing>>;

/// The outcomes of all orders of the steps: "slept", or "did not sleep".
std::set<std::string> outcomes(threads (*program)(parking&)) {
  auto const found =
      explore([] { return parking(); }, program,
              [](parking const& p) { return std::string(p.slept ? "slept" : "did not sleep"); });
  CHECK(found.ok());
  CHECK(found.complete);
  std::set<std::string> all;
  for (auto const& end : found.outcomes) all.insert(end.result.text);
  return all;
}

threads work_comes(parking& p) {
  co_await spawn(puts_work, std::ref(p));
  co_await spawn(goes_to_sleep, std::ref(p));
}
threads a_stop_comes(parking& p) {
  co_await spawn(stops, std::ref(p));
  co_await spawn(goes_to_sleep, std::ref(p));
}
threads both_come(parking& p) {
  co_await spawn(puts_work, std::ref(p));
  co_await spawn(stops, std::ref(p));
  co_await spawn(goes_to_sleep, std::ref(p));
}

TEST_CASE("3: a thread that sleeps is woken, for work and for a stop", "[3]") {
  std::set<std::string> const both{"did not sleep", "slept"};
  CHECK(outcomes(work_comes) == both);
  CHECK(outcomes(a_stop_comes) == both);
  CHECK(outcomes(both_come) == both);
}

struct race {
  explicit race(int n) : start(n) {}
  latch start;
  int ready = 0;
  int ready_at_start = -1;
};
eff<void, syncing> gets_ready(race& r) {
  ++r.ready;
  co_await r.start.count_down();
}
eff<void, syncing> starts(race& r) {
  co_await r.start.wait();
  r.ready_at_start = r.ready;
}

TEST_CASE("4: a latch opens when it was counted down, in every order of parallel steps", "[4]") {
  for (int const n : {0, 1, 2}) {
    explore_options const on_threads = {.granularity = granularity::parallel};
    auto const found = explore(
        on_threads, [n] { return race(n); },
        [n](race& r) -> eff<void, spawning<syncing>> {
          co_await spawn(starts, std::ref(r));
          for (int i = 0; i != n; ++i) co_await spawn(gets_ready, std::ref(r));
        },
        [n](race const& r) { return r.ready_at_start == n; });
    CHECK(found.ok());
    CHECK(found.complete);
  }
}

TEST_CASE("5: the head of a stack is its lock", "[5]") {
  using pushed = locking_stack::pushed;
  using missed = locking_stack::missed;
  locking_stack s;
  std::vector<node> nodes(2000);
  for (std::size_t i = 0; i != nodes.size(); ++i) nodes[i].value = static_cast<int>(i);

  REQUIRE(s.try_pop().why == missed::empty);
  REQUIRE(s.try_push(nodes[0]) == pushed::was_empty);
  REQUIRE(s.try_push(nodes[1]) == pushed::had_some);
  node* const top = s.claim();
  REQUIRE(top == &nodes[1]);
  REQUIRE(s.claim() == locking_stack::sentinel());
  REQUIRE(s.try_push(nodes[2]) == pushed::locked);
  REQUIRE(s.try_pop().why == missed::locked);
  s.give_back(top);
  REQUIRE(s.try_pop().top == &nodes[1]);
  REQUIRE(s.try_pop().top == &nodes[0]);
  REQUIRE(s.try_pop().why == missed::empty);

  auto const push_all = [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i != to;)
      if (s.try_push(nodes[i]) == pushed::locked)
        std::this_thread::yield();
      else
        ++i;
  };
  std::thread other([&] { push_all(1000, 2000); });
  push_all(0, 1000);
  other.join();
  std::set<int> values;
  for (auto p = s.try_pop(); p.top; p = s.try_pop()) values.insert(p.top->value);
  CHECK(values.size() == 2000);
}

struct idlers {
  idle_list list;
  idler a, b;
  std::set<idler const*> expected;  // the threads that are idle
};
steps becomes_idle(idlers& w, idler& t) {
  w.expected.insert(&t);
  co_await push(w.list, t);
}
eff<idler*, proc, syncing> wakes_one(idlers& w) {
  idler* const t = co_await pop(w.list);
  if (t) w.expected.erase(t);
  co_return t;
}
steps only_wakes(idlers& w) { co_await wakes_one(w); }
steps wakes_for_a_short_time(idlers& w) {
  idler* const t = co_await wakes_one(w);
  if (t) co_await becomes_idle(w, *t);
}
threads two_wake(idlers& w) {  // a is idle at first
  w.list.top = &w.a;
  w.expected.insert(&w.a);
  co_await spawn(only_wakes, std::ref(w));
  co_await spawn(wakes_for_a_short_time, std::ref(w));
  co_await spawn(becomes_idle, std::ref(w), std::ref(w.b));
}
steps is_idle_twice(idlers& w) {
  co_await becomes_idle(w, w.a);
  while (!w.a.notified) co_await syncing::wait{w.a.woken};
  co_await becomes_idle(w, w.a);
}
steps wakes_by_the_queue(idlers& w) {
  co_await wakes_one(w);
  w.a.notified = true;
  co_await syncing::wake{w.a.woken};
}
threads woken_once(idlers& w) {
  co_await spawn(is_idle_twice, std::ref(w));
  co_await spawn(wakes_by_the_queue, std::ref(w));
}
/// Whether the list has the idle threads, each of them once.
bool is_right(idlers const& w) {
  std::set<idler const*> found;
  for (idler const* i = w.list.top; i; i = i->below)
    if (!found.insert(i).second) return false;
  return found == w.expected;
}

steps pushes_and_pops(idlers& w, std::vector<idler*>& popped) {
  for (idler* const t : {&w.a, &w.b, &w.a}) co_await push(w.list, *t);
  for (int i = 0; i != 3; ++i) {
    idler* const t = co_await pop(w.list);
    popped.push_back(t);
  }
}

TEST_CASE("6: each idle thread is on the list, and only once", "[6]") {
  idlers alone;
  std::vector<idler*> popped;
  schedule([&] { return pushes_and_pops(alone, popped); });
  CHECK(popped == std::vector<idler*>{&alone.b, &alone.a, nullptr});

  auto const none = [] { return idlers(); };
  explore_options const few = {.max_preemptions = 3, .max_shrinking_runs = 0};
  CHECK(explore(few, none, woken_once, is_right).ok());
  auto const found = explore(few, none, two_wake, is_right);
  CHECK(found.ok());
  CHECK(found.schedules > 100);
}

}  // namespace
}  // namespace a_word_for_a_lock
