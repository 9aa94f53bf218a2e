// SPDX-License-Identifier: MIT
#pragma once

#include "sched/base/thunk.hpp"

namespace weft {

/// What a thread will do itself, as a call, unless another one has taken it by then: then it
/// becomes a process.  Until then it costs no process, and its owner no word to anybody.
///
/// Source: E. Mohr, D. A. Kranz, R. H. Halstead, Lazy task creation: a technique for increasing the
/// granularity of parallel programs, LFP 1990, doi:10.1145/91556.91631.
class lazy_task {
 public:
  lazy_task(lazy_task const&) = delete;
  lazy_task& operator=(lazy_task const&) = delete;

  /// Makes it a process, which is ready: for the thread that has taken it.  Empty if it could not:
  /// then it is dealt with.
  [[nodiscard]] virtual thunk promote() noexcept = 0;

 protected:
  lazy_task() = default;
  ~lazy_task() = default;
};

}  // namespace weft
