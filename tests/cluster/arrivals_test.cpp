// SPDX-License-Identifier: MIT
#include "weft/cluster/detail/arrivals.hpp"

#include "tests/prelude.hpp"

using weft::cluster::detail::arrivals;

std::vector<std::uint64_t> numbers_of(std::vector<arrivals::entry> const& all) {
  std::vector<std::uint64_t> numbers;
  for (auto const& e : all) numbers.push_back(e.number);
  return numbers;
}
using numbers = std::vector<std::uint64_t>;

TEST_CASE("entries are given on in their order") {
  arrivals a;
  CHECK(a.put(1, "one"));
  CHECK(a.put(2, "two"));
  auto const some = a.take(0);
  CHECK(numbers_of(some) == numbers{1, 2});
  CHECK(some[1].bytes == "two");
  CHECK(a.take(2).empty());
  CHECK(a.next() == 3);
  CHECK_FALSE(a.is_gap());
}

TEST_CASE("an entry that comes twice is given on once") {
  arrivals a;
  CHECK(a.put(1, ""));
  CHECK_FALSE(a.put(1, ""));
  CHECK(numbers_of(a.take(0)) == numbers{1});
  CHECK_FALSE(a.put(1, ""));
  CHECK(a.take(1).empty());
  CHECK_FALSE(a.is_gap());
}

TEST_CASE("an entry before which one is missing waits until it comes again") {
  arrivals a;
  CHECK_FALSE(a.put(2, ""));
  CHECK(a.is_gap());
  CHECK(a.take(0).empty());
  CHECK(a.next() == 1);
  a.asked_again();
  CHECK_FALSE(a.is_gap());
  CHECK(a.put(1, ""));
  CHECK(a.put(2, ""));
  CHECK(numbers_of(a.take(0)) == numbers{1, 2});
}

TEST_CASE("entries that are known otherwise need not arrive") {
  arrivals a;
  CHECK(a.put(1, ""));
  CHECK(a.take(3).empty());
  CHECK(a.next() == 4);
  CHECK_FALSE(a.put(2, ""));
  CHECK_FALSE(a.is_gap());
  CHECK(a.put(4, ""));
  CHECK(numbers_of(a.take(3)) == numbers{4});
}

TEST_CASE("whatever a network does, all entries are given on in their order, each once") {
  std::mt19937 random(static_cast<unsigned>(weft::tests::next_seed()));
  for (int round = 0; round != 200; ++round) {
    arrivals a;
    constexpr std::uint64_t last = 50;
    std::uint64_t known = 0;
    numbers all;
    std::uint64_t sent = 0;  // the network's next one
    for (;;) {
      if (a.next() > last) {
        for (auto const n : numbers_of(a.take(known))) all.push_back(n);
        break;
      }
      if (a.is_gap() || sent == last) {
        a.asked_again();
        sent = a.next() - 1;
      }
      std::uint64_t const number = ++sent;
      switch (random() % 4) {
        case 0:
          break;  // lost
        case 1:
          a.put(number, std::to_string(number));
          [[fallthrough]];
        case 2:
          a.put(number, std::to_string(number));
          break;
        default:
          a.put(std::min(last, number + random() % 3), "");  // one that has overtaken others
      }
      if (random() % 3 == 0)
        for (auto const n : numbers_of(a.take(known))) {
          all.push_back(n);
          known = n;
        }
    }
    REQUIRE(all.size() == last);
    CHECK(std::ranges::is_sorted(all));
    CHECK(std::ranges::adjacent_find(all) == all.end());
  }
}
