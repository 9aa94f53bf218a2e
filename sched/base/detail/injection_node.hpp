// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "weft/effects/handle.hpp"
#include "weft/sched/base/thunk.hpp"

namespace weft::detail {

/// The memory for one thunk that another thread puts, on a backend with an injection queue
/// (injection_queue.hpp).  It is allocated beforehand: by a process that is about to wait, or by a
/// caller that can handle bad_alloc.  So a wake-up cannot fail.
struct injection_node : pooled {
  injection_node* next = nullptr;
  thunk content = thunk::reason::stopped;
};
/// A node that was allocated beforehand; null for a backend that needs none.
using spare_node = std::unique_ptr<injection_node>;

}  // namespace weft::detail
