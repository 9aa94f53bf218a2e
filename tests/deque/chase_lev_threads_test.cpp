// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "tests/support/steal_pairs.hpp"
#include "tests/support/steal_threads.hpp"

/// deque/chase_lev.hpp on several threads.  Under ThreadSanitizer these tests show that its memory
/// orders are sufficient; tests/weakened shows that ThreadSanitizer, or x86, would find weaker
/// ones.

TEST_CASE("this system has membarrier, so that the other tests of this file use it") {
  CHECK(detail::asymmetric_fence::exists());
}

/// Orders of a system that refuses the heavy fence: none may be asked for.
struct refused_orders : interrupting_orders {
  struct fence {
    static bool exists() noexcept { return false; }
    static void light() noexcept { std::terminate(); }
    static void heavy() noexcept { std::terminate(); }
  };
};
using all_orders = std::tuple<chase_lev_orders, interrupting_orders, refused_orders>;

TEMPLATE_LIST_TEST_CASE(
    "each item that an owner pushes and pops while thieves steal half is taken once", "",
    all_orders) {
  auto const thieves = GENERATE(1u, 2u, 3u);
  seeds(20).for_each([thieves](unsigned seed) {
    CAPTURE(seed, thieves);
    CHECK(wrong_steals_on_threads<TestType>(seed, thieves, rounds(30'000)) == 0);
  });
}

TEMPLATE_LIST_TEST_CASE("thieves that read growing arrays take each item once", "", all_orders) {
  auto const thieves = GENERATE(1u, 3u);
  seeds::as_many_as(rounds(500)).for_each([thieves](unsigned seed) {
    CAPTURE(seed, thieves);
    CHECK(wrong_steals_on_threads<TestType>(seed, thieves, 200) == 0);
  });
}

TEMPLATE_LIST_TEST_CASE("of an owner and thieves that want the last item, one gets it", "",
                        all_orders) {
  auto const thieves = GENERATE(1u, 2u);
  CHECK(wrong_last_ones_on_threads<TestType>(thieves, rounds(300'000)) == 0);
}

TEMPLATE_LIST_TEST_CASE(
    "of a worker that pushes and looks for sleepers and one that falls asleep, one sees the other",
    "", all_orders) {
  CHECK(missed_wakeups_on_threads<basic_chase_lev<int, TestType>>(rounds(20'000)) == 0);
}
