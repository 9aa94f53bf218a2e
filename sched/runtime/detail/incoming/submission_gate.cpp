// SPDX-License-Identifier: MIT
#include "weft/sched/runtime/detail/incoming/submission_gate.hpp"

#include <mutex>

#include "weft/sched/runtime/detail/incoming/submissions.hpp"

namespace weft::detail {

void submission_gate::leave() noexcept {
  std::lock_guard const lock(mutex);
  if (--submitters == 0 && home) home->on_last_submitter_gone();
}

}  // namespace weft::detail
