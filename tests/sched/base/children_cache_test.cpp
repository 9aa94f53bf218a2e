// SPDX-License-Identifier: MIT
#include "weft/sched/base/detail/children_cache.hpp"

#include "tests/prelude.hpp"

using weft::process_id;
using weft::detail::children_cache;

/// Compares the ids of some children in a row, from each side of a change of digits.
void check_children(children_cache& ids, process_id parent) {
  for (std::uint64_t digit = 1; digit <= std::uint64_t{1} << 12; digit *= 8)
    for (std::uint64_t n = digit > 3 ? digit - 3 : 1; n != digit + 3; ++n)
      REQUIRE(ids.child_of(parent, n) == parent.child(n));
}

TEST_CASE("a children_cache gives the ids of children, however many digits they have") {
  children_cache ids;
  check_children(ids, process_id());
}

TEST_CASE("a children_cache gives the ids of a process that takes turns with another one") {
  children_cache ids;
  process_id const a = process_id().child(5);
  process_id const b = a.child(70);
  for (std::uint64_t n = 1; n != 600; ++n) {
    REQUIRE(ids.child_of(a, n) == a.child(n));
    REQUIRE(ids.child_of(b, n) == b.child(n));
  }
}

TEST_CASE("a children_cache gives the ids of deep processes, whose ids are hashes") {
  children_cache ids;
  process_id parent;
  for (int depth = 0; depth != 40; ++depth) {
    check_children(ids, parent);
    parent = parent.child(1 + static_cast<std::uint64_t>(depth) * 37);
  }
}

TEST_CASE("a children_cache gives the ids of children in any order") {
  children_cache ids;
  std::mt19937_64 random(1);
  process_id parent;
  for (int i = 0; i != 20'000; ++i) {
    if (random() % 16 == 0)
      parent = random() % 8 == 0 ? process_id() : parent.child(1 + random() % 100);
    std::uint64_t const n = 1 + (random() >> (random() % 64)) % (std::uint64_t{1} << 40);
    REQUIRE(ids.child_of(parent, n) == parent.child(n));
  }
}
