// SPDX-License-Identifier: MIT
#include "weft/sched/backends/detail/global_queue.hpp"

#include "tests/prelude.hpp"
#include "tests/support/operator_new.hpp"

/// sched/backends/detail/global_queue.hpp: first in, first out, also without memory.

namespace {

std::atomic<bool> no_memory = false;

}  // namespace

bool weft::tests::admit(allocation const&) noexcept { return !no_memory; }

namespace {

struct entry {
  std::size_t number = 0;
  entry* next = nullptr;
};
using queue_t = weft::detail::global_queue<entry>;

std::vector<entry> numbered(std::size_t n) {
  std::vector<entry> all(n);
  for (std::size_t i = 0; i != n; ++i) all[i].number = i;
  return all;
}
/// Takes everything that is left, up to `at_once` at a time.
std::vector<std::size_t> rest_of(queue_t& q, std::size_t at_once = 1) {
  std::vector<std::size_t> all;
  std::vector<entry*> batch(at_once);
  while (std::size_t const n = q.take(batch, 1))
    for (std::size_t i = 0; i != n; ++i) all.push_back(batch[i]->number);
  return all;
}
std::vector<std::size_t> first_numbers(std::size_t n) {
  std::vector<std::size_t> all(n);
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

}  // namespace

TEST_CASE("processes are taken in the order of their puts, one by one or several at once") {
  auto const at_once = GENERATE(1U, 3U, 1000U);
  auto all = numbered(200);
  queue_t q;
  CHECK(q.is_empty());
  for (auto& e : all) q.push(e);
  CHECK_FALSE(q.is_empty());
  CHECK(rest_of(q, at_once) == first_numbers(200));
  CHECK(q.is_empty());
}

TEST_CASE("a taker leaves the others their share, and takes one if there is one") {
  auto all = numbered(9);
  queue_t q;
  for (auto& e : all) q.push(e);
  std::array<entry*, 16> batch;
  CHECK(q.take(batch, 4) == 3);
  CHECK(q.take(batch, 4) == 2);
  CHECK(q.take(batch, 4) == 1);
  CHECK(q.take(batch, 4) == 1);
  CHECK(q.take(batch, 4) == 1);
  CHECK(q.take(batch, 4) == 1);
  CHECK(q.take(batch, 4) == 0);
}

TEST_CASE("without memory nothing is lost, and the order stays first in, first out") {
  auto const room = GENERATE(0U, 1U, 100U, 299U);  // allocations fail from this put on
  auto all = numbered(300);
  queue_t q;
  for (std::size_t i = 0; i != 300; ++i) {
    no_memory = i >= room && i < room + 150;
    q.push(all[i]);
  }
  no_memory = false;
  CHECK_FALSE(q.is_empty());
  CHECK(rest_of(q, GENERATE(1U, 7U)) == first_numbers(300));
  CHECK(q.is_empty());
  for (auto& e : all) q.push(e);
  CHECK(rest_of(q, 300) == first_numbers(300));
}

TEST_CASE(
    "with several threads that put and take each entry is taken once, with memory and without") {
  static constexpr std::size_t each = 20'000;
  bool const fails = GENERATE(false, true);
  auto all = numbered(2 * each);
  queue_t q;
  std::vector<std::atomic<int>> times(2 * each);
  std::atomic<std::size_t> left = 2 * each;
  auto const put = [&](std::size_t from) {
    for (std::size_t i = from; i != from + each; ++i) q.push(all[i]);
  };
  auto const take = [&] {
    std::array<entry*, 17> batch;
    while (left.load() != 0)
      for (std::size_t n = q.take(batch, 2), i = 0; i != n; ++i) {
        ++times[batch[i]->number];
        --left;
      }
  };
  std::vector<std::thread> threads;
  threads.reserve(4);
  threads.emplace_back(take);
  threads.emplace_back(take);
  threads.emplace_back(put, 0);
  threads.emplace_back(put, each);
  for (int i = 0; fails && left.load() != 0; ++i) no_memory = i % 2 == 0;
  no_memory = false;
  for (auto& t : threads) t.join();
  bool once = true;
  for (auto const& n : times) once &= n == 1;
  CHECK(once);
  CHECK(q.is_empty());
}
