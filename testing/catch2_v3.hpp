// SPDX-License-Identifier: MIT
#pragma once

#include "weft/testing/assertions.hpp"                // IWYU pragma: export
#include "weft/testing/check_schedules.hpp"           // IWYU pragma: export
#include "weft/testing/detail/catch2_v3_capture.hpp"  // IWYU pragma: keep

/// Schedules as assertions of Catch2 (version 3, from 3.4 to 3.7), as catch2.hpp has them for
/// version 2.  SKIP goes around these assertions, too; inside the program it is refused.
namespace weft::detail {

/// Registers Catch2, before main.
inline bool const catch2_v3_is_enlisted = test_framework::enlist(catch2_v3_capture::instance());

}  // namespace weft::detail
