// SPDX-License-Identifier: MIT

/// Compares the reduction with the search that visits every schedule.

#include <catch2/catch.hpp>

#include "tests/support/frames.hpp"
#include "tests/support/reduced_searches.hpp"
#include "tests/support/seeds.hpp"
#include "weft/testing/path.hpp"

using namespace weft;
using namespace weft::tests;

TEST_CASE("the reduction finds the full search's outcomes in fewer schedules") {
  every_frame_dies const here;
  compares_all(seeds(150), granularity::cooperative, 4, 2000);
}

TEST_CASE("the reduction finds the full search's outcomes in fewer parallel schedules, too") {
  every_frame_dies const here;
  compares_all(seeds(40), granularity::parallel, 2, 8000);
}
