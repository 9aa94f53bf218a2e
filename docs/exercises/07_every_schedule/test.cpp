// SPDX-License-Identifier: MIT
#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "weft/effects/effects.hpp"
#include "weft/sched/schedule.hpp"
#include "weft/testing/testing.hpp"
#ifdef SOLVED
#include "docs/exercises/07_every_schedule/solutions.hpp"
#else
#include "docs/exercises/07_every_schedule/exercises.hpp"
#endif

namespace every_schedule {
namespace {

using namespace std::chrono_literals;

// ---- 1

eff<void, spawning<proc>> three_increments(int& n) {
  for (int i = 0; i != 3; ++i) co_await spawn(increment, std::ref(n));
}

TEST_CASE("1: the schedules of three increments are predicted", "[1]") {
  auto const found = explore([] { return 0; }, three_increments, [](int n) { return n == 3; });
  CHECK(schedules_of_three() == found.schedules);
  CHECK(right_of_three() == found.schedules - found.failed);
}

// ---- 2

TEST_CASE("2: a turn that looks once loses an update among as many processes as it takes", "[2]") {
  int most = 0;
  auto const found = explore([] { return counter(); }, as_many_as_it_takes,
                             [&most](counter const& c) {
                               most = std::max(most, c.begun);
                               return c.n == c.begun;
                             });
  CHECK(found.failed > 0);
  CHECK(found.deadlocks == 0);
  CHECK(most <= 3);
}

// ---- 3

struct queue {
  turn whose;
  int n = 0;
  std::vector<int> came, served;
};
eff<void, proc, syncing> stands_in_line(queue& q, int number) {
  q.came.push_back(number);
  co_await take(q.whose);
  q.served.push_back(number);
  co_await increment(q.n);
  co_await give_back(q.whose);
}
eff<void, spawning<proc, syncing>> three_in_line(queue& q) {
  for (int i = 0; i != 3; ++i) co_await spawn(stands_in_line, std::ref(q), i);
}

TEST_CASE("3: the turn goes to the process that has waited longest", "[3]") {
  auto const found =
      explore([] { return queue(); }, three_in_line,
              [](queue const& q) { return q.n == 3 && q.served == q.came && !q.whose.is_taken; });
  CHECK(found.ok());
  CHECK(found.complete);
}

// ---- 4

exploration suppers(std::size_t philosophers, explore_options const& options) {
  return explore(
      options, [=] { return table(philosophers); }, supper,
      [](table const& t) { return t.meals == t.forks.size(); });
}

TEST_CASE("4: a supper in order never ends in a deadlock", "[4]") {
  for (std::size_t const philosophers : {2u, 3u, 4u}) {
    auto const found = suppers(philosophers, {.reduce = true});
    CHECK(found.ok());
    CHECK(found.complete);
  }
}
TEST_CASE("4: the searches that can say never are named", "[4]") {
  auto const walk =
      random_walk({.max_schedules = 100}, [] { return table(3); }, supper, [](table const&) {});
  proofs const expected = {suppers(3, {}).complete, suppers(3, {.max_preemptions = 1}).complete,
                           suppers(3, {.reduce = true}).complete, walk.complete};
  CHECK((that_say_never() == expected));
}

// ---- 5

TEST_CASE("5: the program goes wrong by two preemptions, and by fewer never", "[5]") {
  auto const with = [](std::size_t preemptions) {
    return explore(
        {.max_preemptions = preemptions}, [] { return race(); }, needs_two_preemptions,
        [](race const& r) { return !r.is_wrong; });
  };
  CHECK(with(1).failed == 0);
  CHECK(with(2).failed > 0);
}

// ---- 6

struct bank {
  account ann, ben;
  bool first_has_paid = false, second_has_paid = false;
};
eff<void, syncing, timing> pays(account& from, account& to, int amount, instant::duration patience,
                                bool& has_paid) {
  has_paid = co_await transfer(from, to, amount, patience);
}
eff<void, spawning<syncing, timing>> crosswise(bank& b) {
  co_await spawn(pays, std::ref(b.ann), std::ref(b.ben), 30, 1s, std::ref(b.first_has_paid));
  co_await spawn(pays, std::ref(b.ben), std::ref(b.ann), 20, 2s, std::ref(b.second_has_paid));
}

TEST_CASE("6: a transfer that gives up never deadlocks, and moves all of the money or none",
          "[6]") {
  bool gives_up = false;
  auto const found = explore(
      {.granularity = granularity::parallel, .reduce = true}, [] { return bank(); }, crosswise,
      [&gives_up](bank const& b) {
        gives_up = gives_up || !b.first_has_paid || !b.second_has_paid;
        return b.ann.balance == 100 - 30 * b.first_has_paid + 20 * b.second_has_paid &&
               b.ben.balance == 100 + 30 * b.first_has_paid - 20 * b.second_has_paid &&
               (b.first_has_paid || b.second_has_paid);
      });
  CHECK(found.ok());
  CHECK(found.complete);
  CHECK(gives_up);
}

}  // namespace
}  // namespace every_schedule
