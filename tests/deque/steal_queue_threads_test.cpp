// SPDX-License-Identifier: MIT

/// deque/steal_queue.hpp on several threads.  What these show under ThreadSanitizer is that its
/// orders are enough; tests/weakened shows that it would notice.

#include <catch2/catch.hpp>

#include "deque/steal_queue.hpp"
#include "tests/support/seeds.hpp"
#include "tests/support/steal_pairs.hpp"
#include "tests/support/steal_threads.hpp"
#include "tests/support/threads.hpp"

using namespace weft;
using namespace weft::tests;

TEST_CASE("what all take in batches is taken once each, and by each in order") {
  auto const thieves = GENERATE(1u, 2u, 3u);
  seeds(20).for_each([thieves](unsigned seed) {
    CAPTURE(seed, thieves);
    CHECK(wrong_batches_on_threads(seed, thieves, rounds(30'000)) == 0);
  });
}

TEST_CASE("who takes batches from arrays which grow meanwhile has each item once") {
  auto const thieves = GENERATE(1u, 3u);
  seeds(static_cast<unsigned>(rounds(500))).for_each([thieves](unsigned seed) {
    CAPTURE(seed, thieves);
    CHECK(wrong_batches_on_threads(seed, thieves, 200) == 0);
  });
}

TEST_CASE("of who pushes into a queue and looks, and who says that it sleeps, one sees the other") {
  CHECK(missed_wakeups_on_threads<steal_queue<int>>(rounds(20'000)) == 0);
}
