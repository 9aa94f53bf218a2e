// SPDX-License-Identifier: MIT
#pragma once

#include "weft/sched/base/backend.hpp"

namespace weft {

/// A point of the clock of `timing`, to be formatted: in seconds since the clock's beginning, which
/// with virtual time is the beginning of the run: "1.25s".  (The standard has no format for a point
/// of a steady clock.)
struct clock_time {
  instant at;  ///< The point.
};

}  // namespace weft
