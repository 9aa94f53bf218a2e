// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>

#include "sched/base/process.hpp"

namespace weft::detail {

/// An operation that a process has deferred, to let the others go first: a step of its own.
struct pending_operation {
  /// Called in the turn of the process, which is suspended at the operation.  Returns the frame to
  /// resume.
  using perform_function = std::coroutine_handle<>(void* scheduler, process& p,
                                                   pending_operation const& self);
  perform_function* perform = nullptr;
  void* handler = nullptr;  // the evidence
  void* operation = nullptr;
  void* waiting = nullptr;  // the answer
  std::coroutine_handle<> leaf{};
  /// If not null: called instead of dropping the process, which it takes over (TASK-4 of task.hpp).
  void (*drop)(void* scheduler, process& p, pending_operation const& self) noexcept = nullptr;
  bool is_a_step = true;  // false: deferred only until the events of its process have taken effect
};

/// The header of a process where operations may be steps.
struct alignas(16) pending_header {
  pending_operation pending;
};

}  // namespace weft::detail
