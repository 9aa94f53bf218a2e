// SPDX-License-Identifier: MIT
#pragma once

#include "weft/testing/assertions.hpp"                  // IWYU pragma: export
#include "weft/testing/check_schedules.hpp"             // IWYU pragma: export
#include "weft/testing/detail/googletest_reporter.hpp"  // IWYU pragma: keep

/// Schedules as assertions of GoogleTest (1.10 or later), for use in a TEST:
///
///     TEST(increments, make_two) {
///       check_schedules([] { return 0; }, two_increments, [](int& n) { EXPECT_EQ(n, 2); });
///     }
///
/// assertions.hpp says what the assertions do.  One that fails is a failure at the place of the
/// call; a `require_` form that fails ends the test, by a testing::AssertionException, which
/// GoogleTest catches.  The text of an EXPECT_ or ASSERT_ that fails has the traces of
/// SCOPED_TRACE.
///
///   * ASSERT_ leaves its function by `return`, and so does not compile in a coroutine: it may
///     stand in a function that the coroutine calls, and in the check.
///   * HasFailure() and the like do not see an assertion that fails in a schedule, as it is not
///     reported.
///   * SCOPED_TRACE pushes to a stack of the thread: its object must not live across a `co_await`
///     at which other processes run.
///   * GTEST_SKIP goes around these calls; inside the program it is refused.
///   * An assertion that fails on another thread than the one that visits is reported as usual.
namespace weft::detail {

/// Registers GoogleTest, before main.
inline bool const googletest_is_enlisted = test_framework::enlist(googletest_framework::instance());

}  // namespace weft::detail
