// SPDX-License-Identifier: MIT

/// deque/chase_lev.hpp on several threads.  What these show under ThreadSanitizer is that its
/// orders are enough; tests/weakened shows that it would notice, or that x86 would.

#include <catch2/catch.hpp>

#include "deque/chase_lev.hpp"
#include "tests/support/seeds.hpp"
#include "tests/support/steal_pairs.hpp"
#include "tests/support/steal_threads.hpp"
#include "tests/support/threads.hpp"

using namespace weft;
using namespace weft::tests;

TEST_CASE("what an owner pushes and pops while thieves steal half is taken once each") {
  auto const thieves = GENERATE(1u, 2u, 3u);
  seeds(20).for_each([thieves](unsigned seed) {
    CAPTURE(seed, thieves);
    CHECK(wrong_steals_on_threads(seed, thieves, rounds(30'000)) == 0);
  });
}

TEST_CASE("thieves that read arrays which grow meanwhile take each item once") {
  auto const thieves = GENERATE(1u, 3u);
  seeds(static_cast<unsigned>(rounds(500))).for_each([thieves](unsigned seed) {
    CAPTURE(seed, thieves);
    CHECK(wrong_steals_on_threads(seed, thieves, 200) == 0);
  });
}

TEST_CASE("of an owner and thieves that want the last item one gets it") {
  auto const thieves = GENERATE(1u, 2u);
  CHECK(wrong_last_ones_on_threads(thieves, rounds(300'000)) == 0);
}

TEST_CASE("who pushes, publishes and looks, and who says that it sleeps and looks: one sees it") {
  CHECK(missed_wakeups_on_threads<chase_lev<int>>(rounds(20'000)) == 0);
}
