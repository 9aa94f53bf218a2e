// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "effects/handle.hpp"
#include "sched/base/thunk.hpp"

namespace weft::detail {

/// What one thunk needs that is put from outside, on a backend whose worker looks now and then
/// (injection_queue.hpp).  It is made before: by a process that is about to wait, or by a caller that may
/// hear of it if there is no memory.  So what wakes the process cannot fail.
struct injection_node : pooled {
  injection_node* next = nullptr;
  thunk content = thunk::reason::stopped;
};
/// Null for a backend that needs none.
using spare_node = std::unique_ptr<injection_node>;

}  // namespace weft::detail
