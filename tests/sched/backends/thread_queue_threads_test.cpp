// SPDX-License-Identifier: MIT

/// sched/backends/thread_queue.hpp on several threads.  What these show under ThreadSanitizer is that its
/// orders are enough; tests/weakened shows that it would notice.

#include <catch2/catch.hpp>

#include "tests/support/queue_threads.hpp"
#include "tests/support/seeds.hpp"

using namespace weft;
using namespace weft::tests;

TEST_CASE("two to eight threads put, take, claim, exchange and share, and each entry is had once") {
  auto const threads = GENERATE(2u, 3u, 4u, 8u);
  seeds(20).for_each([threads](unsigned seed) {
    CAPTURE(seed, threads);
    CHECK(wrong_queues_on_threads(seed, threads, 20'000) == 0);
  });
}

TEST_CASE("what one thread has put each of the others takes in that order, also what it shared") {
  auto const takers = GENERATE(1u, 2u, 4u, 7u);
  seeds(20).for_each([takers](unsigned seed) {
    CAPTURE(seed, takers);
    CHECK(wrong_orders_on_threads(seed, takers, 20'000) == 0);
  });
}

TEST_CASE("of who claims, who takes and who shares one gets it") {
  CHECK(wrong_winners_on_threads(3000) == 0);
}
