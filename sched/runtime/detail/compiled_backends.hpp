// SPDX-License-Identifier: MIT
#pragma once

#include "sched/backends/one_thread.hpp"
#include "sched/backends/sharing.hpp"
#include "sched/backends/stealing.hpp"
#include "sched/runtime/detail/backend_scheduler.hpp"

/// The schedulers on the library's backends are compiled once (compiled_backends.cpp).  A source
/// file that includes this header still inlines the short members, and calls the others.
namespace weft::detail {

extern template class backend_scheduler<one_thread>;
extern template class backend_scheduler<sharing>;
extern template class backend_scheduler<stealing>;

}  // namespace weft::detail
