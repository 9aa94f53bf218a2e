// SPDX-License-Identifier: MIT
#include "weft/trace/tracing.hpp"

#include "weft/sched/backends/one_thread.hpp"
#include "weft/sched/backends/random_order.hpp"
#include "weft/sched/backends/sharing.hpp"
#include "weft/sched/backends/stealing.hpp"
#include "weft/sched/runtime/detail/backend_scheduler.hpp"
#include "weft/sched/runtime/detail/scheduler_members.hpp"

/// The traced schedulers on the library's backends are compiled here, once.
namespace weft::detail {

template class backend_scheduler<tracing<one_thread>>;
template class backend_scheduler<tracing<random_order>>;
template class backend_scheduler<tracing<sharing>>;
template class backend_scheduler<tracing<stealing>>;

}  // namespace weft::detail
