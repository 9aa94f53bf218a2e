// SPDX-License-Identifier: MIT
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "weft/deque/deque.hpp"
#include "weft/effects/effects.hpp"
#include "weft/sched/schedule.hpp"
#include "weft/sched/stealing.hpp"
#include "weft/testing/testing.hpp"
#ifdef SOLVED
#include "docs/exercises/16_stealing_and_the_steal_that_was_unsound/solutions.hpp"
#else
#include "docs/exercises/16_stealing_and_the_steal_that_was_unsound/exercises.hpp"
#endif

namespace stealing_and_the_steal_that_was_unsound {
namespace {

TEST_CASE("1: the items that an owner and two thieves get are predicted", "[1]") {
  chase_lev<int> d;
  chase_lev<int> own;
  chase_lev<int>::thief const thief(d);
  std::vector<int> owner;
  for (int i = 0; i != 8; ++i) d.push(i);
  owner.push_back(*d.try_pop());
  auto const half = thief.steal_half(own, 256);
  d.push(8);
  for (int i = 0; i != 2; ++i) owner.push_back(*d.try_pop());
  int const second = *thief.steal();
  std::vector<int> first{*half.first};
  while (auto const item = own.take_oldest()) first.push_back(*item);

  gets const predicted = what_they_get();
  CHECK(predicted.owner == owner);
  CHECK(predicted.first_thief == first);
  CHECK(predicted.second_thief == second);
}

eff<void, proc> yields_often(std::uint64_t times) {
  for (std::uint64_t i = 0; i != times; ++i) co_await proc::yield{};
}

TEST_CASE("2: the steps of all workers are computed", "[2]") {
  for (auto const& [processes, yields] :
       {std::pair<std::uint64_t, std::uint64_t>(0, 5), {1, 0}, {3, 1}, {50, 20}}) {
    auto const program = [p = processes, y = yields]() -> eff<void, spawning<proc>> {
      for (std::uint64_t i = 0; i != p; ++i) co_await spawn(yields_often, y);
    };
    scheduler<stealing> s(stealing_options{.threads = 2});
    s.start(program);
    s.run();
    std::uint64_t const counted = s.base().counts(0).run + s.base().counts(1).run;
    CHECK(steps_counted(processes, yields) == counted);
  }
}

TEST_CASE("3: numbers from outside are added up", "[3]") {
  CHECK(sum_from_outside({}) == 0);
  CHECK(sum_from_outside({42}) == 42);
  std::vector<long> numbers;
  for (long n = 1; n <= 1000; ++n) numbers.push_back(n);
  CHECK(sum_from_outside(numbers) == 500500);
}

// ---- exercise 4

eff<void, proc> owner(deque& d) {
  for (;;) {
    int const b = --d.bottom;
    int const t = co_await read_top(d);
    if (b > t) {
      d.take(b);
      co_await proc::yield{};
    } else {
      if (b == d.top && b == t) {
        d.top = b + 1;
        d.take(b);
      }
      d.bottom = d.top;
      co_return;
    }
  }
}
/// The outcomes of all orders: how many items each way leaves, or what is wrong.
template <class Program>
exploration in_every_order(int items, Program program) {
  return explore([items] { return deque(items); }, program,
                 [](deque const& d) {
                   for (std::size_t i = 0; i != d.taken.size(); ++i) {
                     bool const is_there =
                         d.top <= static_cast<int>(i) && static_cast<int>(i) < d.bottom;
                     if (d.taken[i] + is_there != 1)
                       throw std::logic_error("an item is lost, or taken twice");
                   }
                   return std::to_string(std::max(0, d.bottom - d.top)) + " left";
                 });
}
using threads = eff<void, spawning<proc>>;
threads owner_and_thief(deque& d) {
  co_await spawn(owner, std::ref(d));
  co_await spawn(steals_half, std::ref(d));
}
threads two_thieves(deque& d) {
  co_await spawn(steals_half, std::ref(d));
  co_await spawn(steals_half, std::ref(d));
}
threads one_thief(deque& d) { co_await spawn(steals_half, std::ref(d)); }

TEST_CASE("4: a thief takes half of the items, and each item is taken once", "[4]") {
  for (auto const& [items, left] : {std::pair(0, 0), {1, 0}, {2, 1}, {5, 3}, {8, 4}}) {
    auto const found = in_every_order(items, one_thief);
    REQUIRE(found.outcomes.size() == 1);
    CHECK(found.outcomes[0].result.text == std::to_string(left) + " left");
  }
  for (int const items : {1, 2, 3, 4, 5}) {
    auto const found = in_every_order(items, owner_and_thief);
    CHECK(found.ok());
    CHECK(found.complete);
  }
  auto const found = in_every_order(4, two_thieves);
  CHECK(found.ok());
  CHECK(found.complete);
}

threads owner_and_hasty_thief(deque& d) {
  co_await spawn(owner, std::ref(d));
  co_await spawn(steals_half_at_once, std::ref(d));
}

TEST_CASE("5: the number of items that shows an error is predicted", "[5]") {
  int items = 1;
  while (in_every_order(items, owner_and_hasty_thief).ok()) ++items;
  CHECK(fewest_items_that_show_it() == items);
}

eff<void, spawning<proc>> sleeper_and_waker(sleeper& s) {
  co_await spawn(lets_go, std::ref(s));
  co_await spawn(wakes, std::ref(s));
}

TEST_CASE("6: a process that is woken is put once, and not while its thread has it", "[6]") {
  auto const found =
      explore([] { return sleeper(); }, sleeper_and_waker,
              [](sleeper const& s) { return s.queued == 1 && s.word == life::ready; });
  CHECK(found.ok());
  CHECK(found.complete);
  CHECK(found.schedules > 1);
}

}  // namespace
}  // namespace stealing_and_the_steal_that_was_unsound
