// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "tests/support/reduced_searches.hpp"

/// Compares the reduction with the search that visits every schedule.

TEST_CASE("the reduction finds the full search's outcomes in fewer schedules") {
  every_frame_dies const here;
  compares_all(seeds(150), granularity::cooperative, 4, 2000);
}

TEST_CASE("the reduction finds the full search's outcomes in fewer parallel schedules, too") {
  every_frame_dies const here;
  compares_all(seeds(40), granularity::parallel, 2, 8000);
}
