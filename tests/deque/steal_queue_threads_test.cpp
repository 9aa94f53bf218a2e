// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "tests/support/steal_pairs.hpp"
#include "tests/support/steal_threads.hpp"

/// deque/steal_queue.hpp on several threads.  Under ThreadSanitizer these tests show that its
/// memory orders are sufficient; tests/weakened shows that ThreadSanitizer would find weaker ones.

TEST_CASE(
    "each item is taken once by owner and thieves that take batches, and each sees them in order") {
  auto const thieves = GENERATE(1u, 2u, 3u);
  seeds(20).for_each([thieves](unsigned seed) {
    CAPTURE(seed, thieves);
    CHECK(wrong_batches_on_threads(seed, thieves, rounds(30'000)) == 0);
  });
}

TEST_CASE("thieves that take batches from growing arrays take each item once") {
  auto const thieves = GENERATE(1u, 3u);
  seeds::as_many_as(rounds(500)).for_each([thieves](unsigned seed) {
    CAPTURE(seed, thieves);
    CHECK(wrong_batches_on_threads(seed, thieves, 200) == 0);
  });
}

TEST_CASE(
    "of a worker that pushes and looks for sleepers and one that falls asleep, one sees the "
    "other") {
  CHECK(missed_wakeups_on_threads<steal_queue<int>>(rounds(20'000)) == 0);
}
