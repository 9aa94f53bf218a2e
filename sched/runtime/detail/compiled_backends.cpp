// SPDX-License-Identifier: MIT
#include "sched/runtime/detail/compiled_backends.hpp"

namespace weft::detail {

template class backend_scheduler<one_thread>;
template class backend_scheduler<sharing>;
template class backend_scheduler<stealing>;

}  // namespace weft::detail
