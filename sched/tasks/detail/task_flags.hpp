// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>

namespace weft::detail {

/// What a scheduler notes of its tasks.
struct task_flags {
  std::atomic<bool> scan_wanted = false;  // CANCEL-7: a cancellation has left a note
  bool had_tasks = false;                 // where schedules are explored
  bool is_ending = false;                 // no process runs any more: the frames left are unwound
};

}  // namespace weft::detail
