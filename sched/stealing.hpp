// SPDX-License-Identifier: MIT
#pragma once

#include "weft/sched/backends/stealing.hpp"
#include "weft/sched/runtime/detail/backend_scheduler.hpp"
#include "weft/sched/schedule.hpp"

/// For `schedule<stealing>`: the backend, and a scheduler on it that is compiled in the library.
namespace weft::detail {

extern template class backend_scheduler<stealing>;  // instantiated in backend_scheduler.cpp

}  // namespace weft::detail
