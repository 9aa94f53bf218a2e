// SPDX-License-Identifier: MIT
#pragma once

#include "weft/sched/base/backend.hpp"

namespace weft {

/// A point of the clock of `timing`, to be formatted as in "1.25s": in seconds since the epoch of
/// the clock, which with virtual time is the beginning of the run.  (The standard has no format for
/// a point of a steady clock.)
struct clock_time {
  instant at;  ///< The point.
};

}  // namespace weft
