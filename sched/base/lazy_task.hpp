// SPDX-License-Identifier: MIT
#pragma once

#include "sched/base/thunk.hpp"

namespace weft {

/// What a thread will do itself, as a call, unless another one has taken it by then: then it
/// becomes a process.  Until then it costs no process, and its owner no word to anybody.
///
/// Source: E. Mohr, D. A. Kranz, R. H. Halstead, Lazy task creation: a technique for increasing the
/// granularity of parallel programs, LFP 1990, doi:10.1145/91556.91631.
class offer {
 public:
  offer(offer const&) = delete;
  offer& operator=(offer const&) = delete;

  /// Makes it a process, which is ready: for the thread that has taken it.  Empty if it could not:
  /// then it is dealt with.
  [[nodiscard]] virtual thunk begin() noexcept = 0;

 protected:
  offer() = default;
  ~offer() = default;
};

}  // namespace weft
