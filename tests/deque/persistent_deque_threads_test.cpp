// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "tests/support/deque_threads.hpp"

/// Versions of one deque on four threads.  Under ThreadSanitizer this test shows that the memory
/// orders of deque/policy.hpp are sufficient; tests/weakened shows that ThreadSanitizer would find
/// weaker ones.

TEST_CASE("four threads change their versions of one deque, and none sees a change of another") {
  auto const seed = GENERATE(range(0u, 100u));
  CAPTURE(seed);
  tracked<moves::safely>::births = tracked<moves::safely>::deaths = 0;
  CHECK(wrong_versions_on_threads<atomic_counts>(seed) == 0);
  CHECK(tracked<moves::safely>::births == tracked<moves::safely>::deaths);
}
