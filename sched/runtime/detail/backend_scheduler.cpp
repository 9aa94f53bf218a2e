// SPDX-License-Identifier: MIT
#include "weft/sched/runtime/detail/backend_scheduler.hpp"

#include "weft/sched/backends/one_thread.hpp"
#include "weft/sched/backends/random_order.hpp"
#include "weft/sched/backends/sharing.hpp"
#include "weft/sched/backends/stealing.hpp"
#include "weft/sched/base/detail/scheduling_services.hpp"
#include "weft/sched/runtime/detail/scheduler_members.hpp"

/// The schedulers on the library's backends are compiled here, once.  scheduler.hpp,
/// sched/sharing.hpp, sched/stealing.hpp and testing/testing.hpp declare these instances extern: a
/// program that includes them compiles only the functions that it inlines.
namespace weft::detail {

static_assert(scheduling_services<backend_scheduler<one_thread>> &&
              scheduling_services<backend_scheduler<sharing>>);

template class backend_scheduler<one_thread>;
template class backend_scheduler<random_order>;
template class backend_scheduler<sharing>;
template class backend_scheduler<stealing>;

}  // namespace weft::detail
