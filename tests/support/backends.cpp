// SPDX-License-Identifier: MIT
#include "tests/support/backends.hpp"

#include "weft/sched/runtime/detail/scheduler_members.hpp"

namespace weft::detail {

template class backend_scheduler<tests::locked_queue>;
template class backend_scheduler<tests::locked_stack>;
template class backend_scheduler<tests::sharing_among<1>>;
template class backend_scheduler<tests::sharing_among<2>>;
template class backend_scheduler<tests::stealing_among<1>>;
template class backend_scheduler<tests::stealing_among<2>>;

}  // namespace weft::detail
