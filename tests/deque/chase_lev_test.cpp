// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "tests/support/allocations.hpp"
#include "tests/support/steal_moments.hpp"

/// deque/chase_lev.hpp on one thread: the effect of each operation, the effect of an access by
/// another worker in between, and a comparison with std::deque.

using deque_t = basic_chase_lev<int, watched_chase_lev_orders>;
using thief_t = deque_t::thief;
static_assert(!std::is_copy_constructible_v<deque_t> && !std::is_move_constructible_v<deque_t>);
static_assert(!std::is_copy_assignable_v<deque_t> && !std::is_move_assignable_v<deque_t>);
static_assert(std::is_trivially_copyable_v<thief_t>);

TEST_CASE("a new deque is empty to its owner and to a thief") {
  deque_t d;
  deque_t mine;
  CHECK(d.is_empty());
  CHECK(d.size() == 0);
  CHECK(d.try_pop().is_empty());
  CHECK_FALSE(d.try_pop().is_lost());
  thief_t const thief(d);
  CHECK(thief.is_empty());
  CHECK(thief.steal().is_empty());
  auto const half = thief.steal_half(mine, 16);
  CHECK(half.first.is_empty());
  CHECK(half.others == 0);
  CHECK(mine.is_empty());
}

void push_numbers(deque_t& d, int from, int to) {
  for (int i = from; i != to; ++i) d.push(i);
}
std::vector<int> numbers_from(int from, int to) {
  std::vector<int> all;
  for (int i = from; i != to; ++i) all.push_back(i);
  return all;
}
/// Steals all items, the oldest first.
std::vector<int> rest_of(deque_t& d) {
  std::vector<int> all;
  while (auto const x = thief_t(d).steal()) all.push_back(*x);
  return all;
}

TEST_CASE(
    "the owner pops the item that was pushed last, a thief steals the item that was pushed first") {
  deque_t d(2);
  push_numbers(d, 0, 10);
  CHECK(d.size() == 10);
  CHECK(*d.try_pop() == 9);
  CHECK(*thief_t(d).steal() == 0);
  CHECK(*thief_t(d).steal() == 1);
  CHECK(*d.try_pop() == 8);
  CHECK(rest_of(d) == numbers_from(2, 8));
  CHECK(d.is_empty());
  CHECK(d.try_pop().is_empty());
  d.push(10);
  CHECK(*d.try_pop() == 10);
}

TEST_CASE("steal_half takes half of the items, at least one and at most the given number") {
  auto const there = GENERATE(range(1, 40));
  auto const most = GENERATE(std::size_t{0}, std::size_t{1}, std::size_t{4}, std::size_t{100});
  deque_t d;
  deque_t mine(1);
  mine.push(-1);
  push_numbers(d, 0, there);
  int const n = std::max(1, std::min(there / 2, static_cast<int>(most)));
  auto const half = thief_t(d).steal_half(mine, most);
  REQUIRE(half.first);
  CHECK(*half.first == 0);
  CHECK(half.others == static_cast<std::size_t>(n - 1));
  CHECK(rest_of(d) == numbers_from(n, there));
  auto expected = numbers_from(1, n);
  expected.insert(expected.begin(), -1);
  CHECK(rest_of(mine) == expected);
}

std::vector<int> popped_off(deque_t& d, int most) {
  std::vector<int> all;
  for (int i = 0; i != most; ++i) {
    auto const x = d.try_pop();
    if (!x) break;
    all.push_back(*x);
  }
  return all;
}

TEST_CASE("exactly one of a thief and the owner gets the last item") {
  deque_t d;
  d.push(1);
  thief_t const thief(d);
  SECTION("the owner pops the item while the thief is about to take it") {
    meanwhile const does(moment::takes, [&] { CHECK(*d.try_pop() == 1); });
    CHECK(thief.steal().is_lost());
  }
  SECTION("the thief takes the item while the owner reads top") {
    meanwhile const does(moment::looks_at_top, [&] { CHECK(thief.steal().is_empty()); });
    CHECK(*d.try_pop() == 1);
  }
  SECTION("the thief takes the item while the owner is about to claim it") {
    meanwhile const does(moment::claims, [&] { CHECK(*thief.steal() == 1); });
    CHECK(d.try_pop().is_empty());
  }
  CHECK(d.is_empty());
  CHECK(d.size() == 0);
  push_numbers(d, 2, 5);
  CHECK(popped_off(d, 9) == std::vector{4, 3, 2});
}

TEST_CASE("of two thieves that want the same item, one gets it and the other has lost") {
  deque_t d;
  push_numbers(d, 0, 3);
  meanwhile const other(moment::takes, [&] { CHECK(*thief_t(d).steal() == 0); });
  CHECK(thief_t(d).steal().is_lost());
  CHECK(rest_of(d) == std::vector{1, 2});
}

TEST_CASE(
    "a thief that has seen four items gets one of its two if the owner pops the other three") {
  deque_t d;
  deque_t mine;
  push_numbers(d, 0, 4);
  std::vector<int> popped;
  SECTION("the owner pops before the thief has taken the first item") {
    meanwhile const owner(moment::takes, [&] { popped = popped_off(d, 3); });
    auto const half = thief_t(d).steal_half(mine, 9);
    CHECK(*half.first == 0);
    CHECK(half.others == 0);
    CHECK(popped == std::vector{3, 2, 1});
  }
  SECTION("the owner pops the first item too, before the thief has read bottom") {
    meanwhile const owner(moment::sees_bottom, [&] { popped = popped_off(d, 4); });
    auto const half = thief_t(d).steal_half(mine, 9);
    CHECK(half.first.is_lost());
    CHECK(popped == std::vector{3, 2, 1, 0});
  }
  CHECK(mine.is_empty());
  CHECK(d.is_empty());
}

TEST_CASE("half of eight items is stolen once, whenever the owner pops") {
  auto const when = GENERATE(moment::sees_bottom, moment::sees_array, moment::takes);
  auto const at = GENERATE(range(0, 4));
  auto const pops = GENERATE(range(0, 9));
  deque_t d;
  deque_t mine;
  push_numbers(d, 0, 8);
  std::vector<int> all;
  std::function<void()> comes;
  int steals = 0;
  comes = [&] {
    if (steals++ != at) return void(meanwhile::next(when, comes));
    all = popped_off(d, pops);
  };
  meanwhile const owner(when, comes);
  auto const half = thief_t(d).steal_half(mine, 9);
  if (half.first) all.push_back(*half.first);
  CHECK(mine.size() == half.others);
  for (auto* const rest : {&mine, &d})
    for (int const x : rest_of(*rest)) all.push_back(x);
  std::ranges::sort(all);
  CHECK(all == numbers_from(0, 8));
}

TEST_CASE(
    "an array that has been replaced still holds the item that a thief is about to read in it") {
  auto const when = GENERATE(moment::sees_bottom, moment::sees_array, moment::takes);
  deque_t d(4);
  push_numbers(d, 0, 4);
  meanwhile const owner(when, [&] { push_numbers(d, 4, 100); });
  CHECK(*thief_t(d).steal() == 0);
  CHECK(rest_of(d) == numbers_from(1, 100));
}

TEST_CASE("a thief that reads a cell that has been reused loses") {
  auto const when = GENERATE(moment::sees_bottom, moment::sees_array, moment::takes);
  deque_t d(4);
  push_numbers(d, 0, 4);
  meanwhile const others(when, [&] {
    CHECK(*thief_t(d).steal() == 0);
    CHECK(*thief_t(d).steal() == 1);
    push_numbers(d, 4, 6);  // in the cells of 0 and 1
  });
  CHECK(thief_t(d).steal().is_lost());
  CHECK(rest_of(d) == numbers_from(2, 6));
}

TEST_CASE("items that go around the array many times keep their order") {
  auto const there = GENERATE(range(1, 9));
  deque_t d(8);
  push_numbers(d, 0, there);
  long const before = allocations;
  bool in_order = true;
  for (int i = 0; i != 1000; ++i) {
    auto const x = thief_t(d).steal();
    in_order &= x && *x == i;
    d.push(i + there);
  }
  CHECK(in_order);
  CHECK(allocations == before);  // the array had room
  CHECK(popped_off(d, 1).front() == 999 + there);
}

TEST_CASE("pushes into reserved room allocate nothing") {
  auto const n = GENERATE(std::size_t{1}, std::size_t{7}, std::size_t{8}, std::size_t{1000});
  auto const there = GENERATE(0, 1, 4);
  deque_t d(4);
  push_numbers(d, 0, there);
  d.reserve(n);
  long const before = allocations;
  until_failure = 0;
  bool threw = false;
  try {
    push_numbers(d, there, there + static_cast<int>(n));
  } catch (std::bad_alloc const&) {
    threw = true;
  }
  until_failure = -1;
  CHECK_FALSE(threw);
  CHECK(allocations == before);
  CHECK(rest_of(d) == numbers_from(0, there + static_cast<int>(n)));
}

TEST_CASE(
    "try_push_all pushes several items around the end of the array, if it has room for all of "
    "them") {
  deque_t d(4);
  int next = 0;
  auto const count = [&] { return next++; };
  REQUIRE(d.try_push_all(3, count));
  CHECK(*thief_t(d).steal() == 0);
  CHECK(*thief_t(d).steal() == 1);
  CHECK_FALSE(d.try_push_all(4, count));  // it has last seen room for one
  CHECK(next == 3);
  CHECK(d.size() == 1);
  d.reserve(3);  // now it looks again
  REQUIRE(d.try_push_all(3, count));
  CHECK(*d.try_pop() == 5);
  CHECK(rest_of(d) == std::vector<int>{2, 3, 4});
}

TEST_CASE("a push that throws bad_alloc changes nothing") {
  auto const failing = GENERATE(0, 1);  // the allocation of the array, and of its cells
  deque_t d(4);
  push_numbers(d, 0, 4);
  until_failure = failing;
  CHECK_THROWS_AS(d.push(4), std::bad_alloc);
  until_failure = failing;
  CHECK_THROWS_AS(d.reserve(1), std::bad_alloc);
  until_failure = -1;
  CHECK_THROWS_AS(d.reserve(std::numeric_limits<std::size_t>::max()), std::bad_alloc);
  CHECK_THROWS_AS(d.reserve(std::numeric_limits<std::size_t>::max() / 2 - 3), std::bad_alloc);
  CHECK(d.size() == 4);
  push_numbers(d, 4, 6);
  CHECK(*d.try_pop() == 5);
  CHECK(rest_of(d) == numbers_from(0, 5));
}

TEST_CASE("a thief that cannot allocate room for half of the items steals nothing") {
  deque_t d;
  deque_t mine(1);
  push_numbers(d, 0, 20);
  auto const failing = GENERATE(0, 1);
  until_failure = failing;
  CHECK_THROWS_AS(thief_t(d).steal_half(mine, 20), std::bad_alloc);
  until_failure = -1;
  CHECK(mine.is_empty());
  CHECK(rest_of(d) == numbers_from(0, 20));
}

TEST_CASE("a deque without thieves behaves like a std::deque, also if its owner steals from it") {
  seeds(100).for_each([](unsigned seed) {
    CAPTURE(seed);
    dice random(seed);
    deque_t d(1);
    std::deque<int> model;
    int wrong = 0;
    for (int step = 0; step != 300; ++step) {
      switch (random(step / 50 % 2 == 0 ? 5 : 3)) {
        case 0:
        case 1: {
          auto const popped = d.try_pop_alone();
          wrong += model.empty() ? !popped.is_empty() : !popped || *popped != model.back();
          if (!model.empty()) model.pop_back();
          break;
        }
        case 2: {
          auto const stolen = thief_t(d).steal();
          wrong += model.empty() ? !stolen.is_empty() : !stolen || *stolen != model.front();
          if (!model.empty()) model.pop_front();
          break;
        }
        default:
          d.push(step);
          model.push_back(step);
      }
      wrong += d.size() != model.size();
    }
    CHECK(wrong == 0);
  });
}

TEST_CASE("two deques that steal from each other behave like std::deques") {
  seeds(300).for_each([](unsigned seed) {
    CAPTURE(seed);
    dice random(seed);
    deque_t d[2] = {deque_t(1), deque_t(2)};
    std::deque<int> model[2];
    int next = 0;
    int wrong = 0;
    auto const is = [](taken<int> const& x, int value) { return x && *x == value; };
    for (int step = 0; step != 300; ++step) {
      unsigned const at = random(2);
      auto& m = model[at];
      switch (random(step / 50 % 2 == 0 ? 8 : 5)) {
        case 0:
        case 1:
          if (m.empty()) {
            wrong += !d[at].try_pop().is_empty();
          } else {
            wrong += !is(d[at].try_pop(), m.back());
            m.pop_back();
          }
          break;
        case 2:
          if (m.empty()) {
            wrong += !thief_t(d[at]).steal().is_empty();
          } else {
            wrong += !is(thief_t(d[at]).steal(), m.front());
            m.pop_front();
          }
          break;
        case 3: {
          std::size_t const most = random(6);
          std::size_t const n = std::max<std::size_t>(1, std::min(m.size() / 2, most));
          auto const half = thief_t(d[at]).steal_half(d[1 - at], most);
          wrong += bool(half.first) == m.empty();
          if (m.empty()) break;
          wrong += !is(half.first, m.front()) || half.others != n - 1;
          m.pop_front();
          for (std::size_t i = 1; i != n; ++i) {
            model[1 - at].push_back(m.front());
            m.pop_front();
          }
          break;
        }
        case 4:
          d[at].reserve(random(9));
          d[at].publish();
          break;
        default:
          d[at].push(next);
          m.push_back(next++);
      }
      for (int i = 0; i != 2; ++i)
        wrong += d[i].size() != model[i].size() || d[i].is_empty() != model[i].empty();
    }
    for (int i = 0; i != 2; ++i) {
      for (; !model[i].empty(); model[i].pop_back()) wrong += !is(d[i].try_pop(), model[i].back());
      wrong += !d[i].try_pop().is_empty();
    }
    CHECK(wrong == 0);
  });
}
