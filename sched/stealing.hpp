// SPDX-License-Identifier: MIT
#pragma once

#include "sched/backends/stealing.hpp"
#include "sched/runtime/detail/backend_scheduler.hpp"
#include "sched/schedule.hpp"

/// For `schedule<stealing>`: the backend, and a scheduler on it that has been compiled once.
namespace weft::detail {

extern template class backend_scheduler<stealing>;  // backend_scheduler.cpp

}  // namespace weft::detail
