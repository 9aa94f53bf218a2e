// SPDX-License-Identifier: MIT
#include "weft/testing/detail/one_run.hpp"

#include "weft/sched/runtime/detail/scheduler_members.hpp"
#include "weft/testing/detail/controlled_backend.hpp"

namespace weft::detail {

template class backend_scheduler<controlled_backend>;
template class backend_scheduler<tracing<controlled_backend>>;

}  // namespace weft::detail
