// SPDX-License-Identifier: MIT
#pragma once

#include "weft/sched/backends/one_thread.hpp"
#include "weft/sched/backends/random_order.hpp"
#include "weft/sched/backends/sharing.hpp"
#include "weft/sched/backends/stealing.hpp"
#include "weft/sched/runtime/detail/backend_scheduler.hpp"
#include "weft/trace/trace.hpp"
#include "weft/trace/tracing_backend.hpp"

/// The header for `schedule<tracing<...>>`.  Traced schedulers on the library's backends are
/// compiled once, in tracing.cpp.
namespace weft::detail {

extern template class backend_scheduler<tracing<one_thread>>;
extern template class backend_scheduler<tracing<random_order>>;
extern template class backend_scheduler<tracing<sharing>>;
extern template class backend_scheduler<tracing<stealing>>;

}  // namespace weft::detail
