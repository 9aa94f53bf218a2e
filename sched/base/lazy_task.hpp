// SPDX-License-Identifier: MIT
#pragma once

#include "sched/base/thunk.hpp"

namespace weft {

/// A task that its thread will call itself, unless another thread takes it first; then it becomes a
/// process.  Until then it costs no process, and its owner notifies no other thread.
///
/// Source: E. Mohr, D. A. Kranz, R. H. Halstead, Lazy task creation: a technique for increasing the
/// granularity of parallel programs, LFP 1990, doi:10.1145/91556.91631.
class lazy_task {
 public:
  lazy_task(lazy_task const&) = delete;
  lazy_task& operator=(lazy_task const&) = delete;

  /// Makes the task a process, which is ready and belongs to the thread that has taken the task.
  /// Empty if that failed; the failure has then been handled.
  [[nodiscard]] virtual thunk promote() noexcept = 0;

 protected:
  lazy_task() = default;
  ~lazy_task() = default;
};

}  // namespace weft
