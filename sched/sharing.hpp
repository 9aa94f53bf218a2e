// SPDX-License-Identifier: MIT
#pragma once

#include "weft/sched/backends/sharing.hpp"
#include "weft/sched/runtime/detail/backend_scheduler.hpp"
#include "weft/sched/schedule.hpp"

/// For `schedule<sharing>`: the backend, and a scheduler on it that is compiled in the library.
namespace weft::detail {

extern template class backend_scheduler<sharing>;  // instantiated in backend_scheduler.cpp

}  // namespace weft::detail
