// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>

#include "sched/base/process.hpp"

namespace weft::detail {

/// An operation before which a process has let the others go first: a step of its own.
struct pending_operation {
  /// In the process's turn; it is stopped at the operation.  The frame to go on with.
  using perform_function = std::coroutine_handle<>(void* scheduler, process& p,
                                                   pending_operation const& self);
  perform_function* perform = nullptr;
  void* handler = nullptr;  // the evidence
  void* operation = nullptr;
  void* waiting = nullptr;  // the answer
  std::coroutine_handle<> leaf{};
  /// Not null: the process is not to be dropped, but given to it (TASK-4 of task.hpp).
  void (*drop)(void* scheduler, process& p, pending_operation const& self) noexcept = nullptr;
  bool is_a_step = true;  // or it only comes after the events of its process (deferred_events.hpp)
};

/// What each process has where operations may be steps.
struct alignas(16) pending_header {
  pending_operation pending;
};

}  // namespace weft::detail
