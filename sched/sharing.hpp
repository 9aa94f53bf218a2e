// SPDX-License-Identifier: MIT
#pragma once

#include "sched/backends/sharing.hpp"
#include "sched/runtime/detail/backend_scheduler.hpp"
#include "sched/schedule.hpp"

/// For `schedule<sharing>`: the backend, and a scheduler on it that has been compiled once.
namespace weft::detail {

extern template class backend_scheduler<sharing>;  // backend_scheduler.cpp

}  // namespace weft::detail
