// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "tests/support/steal_moments.hpp"

/// deque/steal_queue.hpp on one thread: the effect of each operation, the effect of an access by
/// another worker in between, and a comparison with std::deque.

using queue_t = basic_steal_queue<int, watched_steal_queue_orders>;
using thief_t = queue_t::thief;
static_assert(!std::is_copy_constructible_v<queue_t> && !std::is_move_constructible_v<queue_t>);
static_assert(!std::is_copy_assignable_v<queue_t> && !std::is_move_assignable_v<queue_t>);
static_assert(std::is_trivially_copyable_v<thief_t>);

/// Room for the items that one operation takes.
struct batch {
  explicit batch(std::size_t most) : items(most) {}
  std::vector<int> first(std::size_t n) {
    return {items.begin(), items.begin() + static_cast<std::ptrdiff_t>(n)};
  }
  std::vector<int> taken_from(queue_t& q) { return first(q.take(items)); }
  std::vector<int> items;
};

TEST_CASE("a new queue is empty to its owner and to a thief") {
  queue_t q;
  batch b(4);
  CHECK(q.is_empty());
  CHECK(q.size() == 0);
  CHECK(q.take(b.items) == 0);
  thief_t const thief(q);
  CHECK(thief.is_empty());
  CHECK(thief.size() == 0);
  CHECK(thief.take(b.items).is_empty());
  CHECK(thief.take_half(b.items).is_empty());
}

void push_numbers(queue_t& q, int from, int to) {
  for (int i = from; i != to; ++i) q.push(i);
}

std::vector<int> rest_of(queue_t& q) { return batch(q.size() + 1).taken_from(q); }

TEST_CASE("owner and thieves take the oldest items, as many as they have room for") {
  queue_t q(2);
  push_numbers(q, 0, 10);
  batch b(3);
  CHECK(b.taken_from(q) == std::vector{0, 1, 2});
  auto const n = thief_t(q).take(b.items);
  REQUIRE(n);
  CHECK(b.first(*n) == std::vector{3, 4, 5});
  CHECK(b.taken_from(q) == std::vector{6, 7, 8});
  CHECK(b.taken_from(q) == std::vector{9});
  CHECK(b.taken_from(q).empty());
  push_numbers(q, 10, 12);
  CHECK(rest_of(q) == std::vector{10, 11});
}

TEST_CASE("an owner or thief without room takes nothing") {
  queue_t q;
  q.push(1);
  CHECK(q.take({}) == 0);
  CHECK(thief_t(q).take_half({}).is_empty());
  CHECK(q.size() == 1);
}

std::vector<int> numbers_from(int from, int to) {
  std::vector<int> all;
  for (int i = from; i != to; ++i) all.push_back(i);
  return all;
}

TEST_CASE(
    "take_half takes half of the items, at least one and at most as many as there is room for") {
  auto const there = GENERATE(range(1, 40));
  auto const most = GENERATE(1, 4, 100);
  queue_t q;
  push_numbers(q, 0, there);
  batch b(static_cast<std::size_t>(most));
  int const n = std::min(most, std::max(1, there / 2));
  auto const got = thief_t(q).take_half(b.items);
  REQUIRE(got);
  CHECK(b.first(*got) == numbers_from(0, n));
  CHECK(rest_of(q) == numbers_from(n, there));
}

TEST_CASE("a thief loses to a take in between, and an owner takes the items that are left") {
  auto const when = GENERATE(moment::sees_bottom, moment::sees_array, moment::takes);
  queue_t q;
  push_numbers(q, 0, 8);
  batch b(4);
  SECTION("the owner takes first") {
    std::vector<int> taken;
    meanwhile const owner(when, [&] { taken = batch(1).taken_from(q); });
    CHECK(thief_t(q).take_half(b.items).is_lost());
    CHECK(taken == std::vector{0});
    CHECK(rest_of(q) == numbers_from(1, 8));
  }
  SECTION("a thief takes first") {
    batch other(2);
    meanwhile const thief(when, [&] { CHECK(*thief_t(q).take(other.items) == 2); });
    CHECK(b.taken_from(q) == std::vector{2, 3, 4, 5});
    CHECK(rest_of(q) == std::vector{6, 7});
  }
  SECTION("a thief takes all first") {
    batch other(9);
    meanwhile const thief(when, [&] { CHECK(*thief_t(q).take(other.items) == 8); });
    CHECK(b.taken_from(q).empty());
    CHECK(q.is_empty());
  }
}

TEST_CASE(
    "a thief that takes while the owner pushes into a larger array gets the items of the old one") {
  auto const when = GENERATE(moment::sees_bottom, moment::sees_array, moment::takes);
  queue_t q(4);
  push_numbers(q, 0, 4);
  meanwhile const owner(when, [&] { push_numbers(q, 4, 100); });
  batch b(4);
  auto const n = thief_t(q).take(b.items);
  REQUIRE(n);
  CHECK(b.first(*n) == numbers_from(0, 4));
  CHECK(rest_of(q) == numbers_from(4, 100));
}

TEST_CASE("a thief that reads cells that have been reused loses") {
  auto const when = GENERATE(moment::sees_bottom, moment::sees_array, moment::takes);
  queue_t q(4);
  push_numbers(q, 0, 4);
  meanwhile const others(when, [&] {
    CHECK(batch(2).taken_from(q) == std::vector{0, 1});
    push_numbers(q, 4, 6);  // in the cells of 0 and 1
  });
  batch b(4);
  CHECK(thief_t(q).take(b.items).is_lost());
  CHECK(rest_of(q) == numbers_from(2, 6));
}

TEST_CASE("a queue behaves like a std::deque") {
  seeds(300).for_each([](unsigned seed) {
    CAPTURE(seed);
    dice random(seed);
    queue_t q(1);
    std::deque<int> model;
    int next = 0;
    int wrong = 0;
    auto const take = [&](std::vector<int> const& got, std::size_t n) {
      wrong += got.size() != n;
      for (int const x : got) {
        wrong += model.empty() || model.front() != x;
        if (!model.empty()) model.pop_front();
      }
    };
    for (int step = 0; step != 300; ++step) {
      batch b(random(7));
      switch (random(step / 50 % 2 == 0 ? 9 : 5)) {
        case 0:
          take(b.taken_from(q), std::min(model.size(), b.items.size()));
          break;
        case 1: {
          std::size_t const n = std::min(model.size(), b.items.size());
          auto const got = thief_t(q).take(b.items);
          wrong += got.is_lost() || got.is_empty() != (n == 0);
          take(b.first(got ? *got : 0), n);
          break;
        }
        case 2: {
          std::size_t const half = std::max<std::size_t>(model.size() / 2, !model.empty());
          std::size_t const n = std::min(half, b.items.size());
          auto const got = thief_t(q).take_half(b.items);
          wrong += got.is_lost() || got.is_empty() != (n == 0);
          take(b.first(got ? *got : 0), n);
          break;
        }
        case 3:
          q.reserve(random(9));
          q.publish();
          break;
        default:
          q.push(next);
          model.push_back(next++);
      }
      wrong += q.size() != model.size() || q.is_empty() != model.empty();
    }
    take(rest_of(q), model.size());
    wrong += !q.is_empty();
    CHECK(wrong == 0);
  });
}
