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

#define BOTH chase_lev_orders, interrupting_orders

TEST_CASE("this system has membarrier, so that what follows tests it") {
  CHECK(detail::asymmetric_fence::exists());
}

TEMPLATE_TEST_CASE("what an owner pushes and pops while thieves steal half is taken once each", "",
                   BOTH) {
  auto const thieves = GENERATE(1u, 2u, 3u);
  seeds(20).for_each([thieves](unsigned seed) {
    CAPTURE(seed, thieves);
    CHECK(wrong_steals_on_threads<TestType>(seed, thieves, rounds(30'000)) == 0);
  });
}

TEMPLATE_TEST_CASE("thieves that read arrays which grow meanwhile take each item once", "", BOTH) {
  auto const thieves = GENERATE(1u, 3u);
  seeds(static_cast<unsigned>(rounds(500))).for_each([thieves](unsigned seed) {
    CAPTURE(seed, thieves);
    CHECK(wrong_steals_on_threads<TestType>(seed, thieves, 200) == 0);
  });
}

TEMPLATE_TEST_CASE("of an owner and thieves that want the last item one gets it", "", BOTH) {
  auto const thieves = GENERATE(1u, 2u);
  CHECK(wrong_last_ones_on_threads<TestType>(thieves, rounds(300'000)) == 0);
}

TEMPLATE_TEST_CASE(
    "who pushes, publishes and looks, and who says that it sleeps and looks: one "
    "sees it",
    "", BOTH) {
  CHECK(missed_wakeups_on_threads<basic_chase_lev<int, TestType>>(rounds(20'000)) == 0);
}
