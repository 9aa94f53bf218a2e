// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>

namespace weft::detail {

/// The state that a scheduler keeps for its tasks.
struct task_flags {
  bool is_ending = false;  // no process runs any more; frames are unwound
};

}  // namespace weft::detail
