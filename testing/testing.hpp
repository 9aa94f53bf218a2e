// SPDX-License-Identifier: MIT
#pragma once

/// The umbrella header for tests: check_schedules, explore, random_walk and random_order; and
/// decide, for handlers.
#include "weft/sched/backends/random_order.hpp"
#include "weft/sched/base/decision.hpp"
#include "weft/sched/runtime/detail/backend_scheduler.hpp"
#include "weft/testing/check_schedules.hpp"
#include "weft/testing/explore.hpp"
#include "weft/testing/random_walk.hpp"

namespace weft::detail {

extern template class backend_scheduler<random_order>;  // compiled in backend_scheduler.cpp

}  // namespace weft::detail
