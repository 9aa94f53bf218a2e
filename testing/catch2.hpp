// SPDX-License-Identifier: MIT
#pragma once

#include "weft/testing/assertions.hpp"             // IWYU pragma: export
#include "weft/testing/check_schedules.hpp"        // IWYU pragma: export
#include "weft/testing/detail/catch2_capture.hpp"  // IWYU pragma: keep

/// Schedules as assertions of Catch2 (version 2), for use in a TEST_CASE:
///
///     TEST_CASE("two increments make two") {
///       check_schedules([] { return 0; }, two_increments, [](int& n) { CHECK(n == 2); });
///     }
///
/// assertions.hpp says what the assertions do.  The functions that they take may contain any
/// assertion of Catch2.  The text of one that fails has its expansion, and the messages (INFO,
/// CAPTURE) of its process.  A `require_` form that fails ends the test case as REQUIRE does, by
/// the same exception.
///
///   * SECTION and GENERATE go around these calls; inside the program they are refused.
///   * Catch2 is not thread safe, and need not be: one thread visits the schedules.
namespace weft::detail {

/// Registers Catch2, before main.
inline bool const catch2_is_enlisted = test_framework::enlist(catch2_capture::instance());

}  // namespace weft::detail
