// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>

#include "weft/effects/multi_resumption.hpp"
#include "weft/sched/base/detail/children_cache.hpp"
#include "weft/sched/base/detail/program.hpp"
#include "weft/sched/base/process.hpp"

namespace weft::detail {

class scheduler_core;

/// How many operations of a process may be answered at once in a step, such as receives of messages
/// that have come already.  The next operation ends the step: so a process that need never wait
/// does not keep its thread.
inline constexpr std::int8_t most_operations_in_step = 127;

/// The state of one worker: a thread that runs processes of a scheduler.  Touched only by that
/// thread, hence unsynchronised; when all threads have ended, the scheduler adds up the counts of
/// all workers.
struct worker_state {
  explicit worker_state(scheduler_core& s) noexcept : home(&s) {}
  worker_state(worker_state const&) = delete;
  worker_state& operator=(worker_state const&) = delete;

  /// Makes the state ready for another run.  Requires that no process is left, so that the counts
  /// of processes are zero.  The evidence of rows stays.
  void reset() noexcept {
    hand_overs = until_clock = 0;
    std::destroy_at(&no_log);
    std::construct_at(&no_log, 0U);
  }

  scheduler_core* home;
  // The process whose turn it is; after it is suspended, it stays here until the next is resumed.
  process* running = nullptr;
  frame_pool* pool = nullptr;   // the pool of the thread, while it runs processes
  std::int64_t alive = 0;       // processes that began here, less those that ended here
  std::int64_t repeatable = 0;  // the part of `alive` that can be run again
  bool stopped = false;         // the backend was stopped
  std::uint8_t hand_overs = 0;  // hand-overs in this step: the receiver runs on in it
  /// How many operations of the process may still be answered at once, in this step.
  std::int8_t operations_left = most_operations_in_step;
  std::uint8_t until_clock = 0;  // steps until the clock is read again
  std::exception_ptr broken;     // an exception that the backend's take() threw
  replay_log no_log{0};          // stands for the log of a process that keeps none

  /// The part of `alive` that cannot be run again.
  [[nodiscard]] std::int64_t unforkable() const noexcept { return alive - repeatable; }
  /// Called when a process is about to be taken out of the queues: a step lasts until the next
  /// take.
  void begin_step() noexcept {
    hand_overs = 0;
    operations_left = most_operations_in_step;
  }
  /// Counts an operation that is answered at once.  False if the step may have no more of them.
  [[nodiscard, gnu::always_inline]] bool count_operation() noexcept {
    if (--operations_left >= 0) [[likely]]
      return true;
    operations_left = 0;
    return false;
  }
  /// Whether the step may have no more operations that are answered at once.
  [[nodiscard]] bool has_had_share() const noexcept { return operations_left == 0; }
  /// Counts `n` more operations.
  void count_operations(std::size_t n) noexcept {
    std::size_t const left = static_cast<std::uint8_t>(operations_left);
    operations_left = static_cast<std::int8_t>(left - std::min(n, left));
  }

  /// The row and the evidence of the last look-up: a loop spawns processes of the same row again
  /// and again, and need not look up their evidence each time.
  struct row_cache {
    row_info const* row = nullptr;
    void* evidence = nullptr;
  };
  children_cache children;  // for a loop that spawns children of one process
  row_cache last_row[2];    // [0]: for processes without a log; [1]: for those with one
  /// The state of the worker that runs processes on the calling thread; null if none does.
  [[gnu::visibility("default")]] static inline thread_local constinit worker_state* at_work =
      nullptr;
  /// Whether an operation whose answer has come already need not be performed; if so, counts it.
  /// Inside a handler, and in a process with a log, the operation must be performed, since it may
  /// be recorded; in other code only if it is to end the step (count_operation()).  In a body that
  /// is copied bitwise (copying_prompt.hpp), no operation is recorded or ends a step.
  [[nodiscard]] static bool may_go_on() noexcept {
    if (!at_work || !at_work->running) return true;
    if (prompt::innermost() == at_work->ground && !at_work->running->is_forkable()) [[likely]]
      return at_work->count_operation();
    return prompt::arena_here();
  }
  prompt const* ground = nullptr;   // the prompt of the scheduler
  worker_state* outside = nullptr;  // this thread's state for the scheduler around this one

  /// The state of this thread as a worker of the innermost scheduler of several threads that runs
  /// here; null if there is none.
  [[gnu::visibility("default")]] static inline thread_local constinit worker_state* of_thread =
      nullptr;
};

}  // namespace weft::detail
