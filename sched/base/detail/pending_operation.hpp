// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>

#include "weft/sched/base/process.hpp"

namespace weft::detail {

/// An operation that a process has deferred to its next turn: other processes may go first, and the
/// operation is a step of its own.
struct pending_operation {
  /// Performs the operation, in the turn of the process, which is suspended there.  Returns the
  /// frame to resume.
  using perform_function = std::coroutine_handle<>(void* scheduler, process& p,
                                                   pending_operation const& self);
  perform_function* perform = nullptr;
  void* handler = nullptr;  // the evidence
  void* operation = nullptr;
  void* waiting = nullptr;  // the slot of the answer
  std::coroutine_handle<> leaf{};
  /// If not null: called instead of dropping the process; it takes the process over (TASK-4 of
  /// task.hpp).
  void (*drop)(void* scheduler, process& p, pending_operation const& self) noexcept = nullptr;
  bool is_a_step = true;  // false: deferred only until the events of its process have taken effect
};

/// What the backend of an explorer keeps in front of each process (backend_header.hpp): the
/// operation that the process has deferred.
struct alignas(16) pending_header {
  pending_operation pending;
};

}  // namespace weft::detail
