// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"

#if WEFT_VERSION < 100
#error "the preprocessor can compare versions"
#endif

TEST_CASE("the version as one number has two digits each for minor and patch") {
  STATIC_REQUIRE(WEFT_VERSION / 10000 == WEFT_VERSION_MAJOR);
  STATIC_REQUIRE(WEFT_VERSION / 100 % 100 == WEFT_VERSION_MINOR);
  STATIC_REQUIRE(WEFT_VERSION % 100 == WEFT_VERSION_PATCH);
  STATIC_REQUIRE(weft::version == WEFT_VERSION);
}
