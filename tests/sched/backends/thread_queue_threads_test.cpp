// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "tests/support/queue_threads.hpp"

/// sched/backends/detail/thread_queue.hpp on several threads.  Under ThreadSanitizer these tests show that
/// its memory orders suffice; tests/weakened shows that ThreadSanitizer would notice weaker ones.

TEST_CASE(
    "two to eight threads put, take, claim, exchange and share, and each entry is taken once") {
  auto const threads = GENERATE(2u, 3u, 4u, 8u);
  seeds(20).for_each([threads](unsigned seed) {
    CAPTURE(seed, threads);
    CHECK(wrong_queues_on_threads(seed, threads, 20'000) == 0);
  });
}

TEST_CASE(
    "the entries that one thread puts are taken in that order by each other thread, also shared") {
  auto const takers = GENERATE(1u, 2u, 4u, 7u);
  seeds(20).for_each([takers](unsigned seed) {
    CAPTURE(seed, takers);
    CHECK(wrong_orders_on_threads(seed, takers, 20'000) == 0);
  });
}

TEST_CASE("of a claim, a take and a share of the same entry exactly one succeeds") {
  CHECK(wrong_winners_on_threads(3000) == 0);
}
