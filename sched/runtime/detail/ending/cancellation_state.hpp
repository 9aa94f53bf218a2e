// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>

#include "weft/effects/handle.hpp"
#include "weft/sched/base/process.hpp"

namespace weft::detail {

/// Which processes of a scheduler are cancelled: none, those of cancelled groups of tasks, or all.
///
/// Every access but one is relaxed: a worker that sees a change late may resume a process
/// meanwhile, and that process finds the cancellation at its next operation.  Data that belongs to
/// a change, such as a reason, is read under a lock, or when all threads have ended.  A process
/// that enters a list reads the change itself under the list's lock (CANCEL-2 of
/// wait_registry.hpp).
class cancellation_state {
 public:
  /// Whether it may not be enough to resume the next process: some processes are cancelled, or the
  /// current step is the last one.  The slow path then finds the reason.
  [[nodiscard]] bool needs_attention() const noexcept {
    return reasons_.load(std::memory_order_relaxed) != 0;  // relaxed: see the class
  }
  /// The number of reasons for attention; not zero if needs_attention().
  [[nodiscard]] std::atomic<unsigned> const& reasons() const noexcept { return reasons_; }
  [[nodiscard]] bool is_of_all() const noexcept {
    return all_.load(std::memory_order_relaxed);  // relaxed: see the class
  }
  [[nodiscard]] bool is_of_some_group() const noexcept {
    return groups_.load(std::memory_order_relaxed) != 0;  // relaxed: see the class
  }
  /// Whether a process whose frames are suspended at `at` is cancelled.
  [[nodiscard]] bool includes(continuation at) const noexcept {
    return is_of_all() || (is_of_some_group() && is_cancelled_at(at));
  }
  /// Whether a waiting process is cancelled because a group of tasks around its frames is.
  [[nodiscard]] bool includes_by_group(process const& p) const noexcept {
    return is_of_some_group() && p.is_suspended() && is_cancelled_at(p.leaf());
  }
  /// Returns the test whether a process that is about to enter a list is cancelled.  The list calls
  /// it under its own lock (CANCEL-2).
  [[nodiscard]] auto refuses() const noexcept {
    return [this](process const& p) noexcept {
      return needs_attention() && (is_of_all() || includes_by_group(p));
    };
  }

  /// Cancels all processes.  False if all were cancelled already.  Either way the caller finds
  /// needs_attention() from then on.
  [[nodiscard]] bool begin_of_all() noexcept {
    // The reason is counted before other threads can find that all processes are cancelled.
    count_reason(true);
    // [1] pairs with itself: a caller that is not the first reads what the first one wrote, and so
    // finds the reason counted.
    if (!all_.exchange(true, std::memory_order_acq_rel)) return true;
    count_reason(false);
    return false;
  }
  /// Ends the cancellation of all processes.  Called when no process runs.
  void end_of_all() noexcept {
    // Relaxed: no process runs.
    if (all_.exchange(false, std::memory_order_relaxed)) count_reason(false);
    was_found_.store(false, std::memory_order_relaxed);  // relaxed: no process runs
  }
  /// Counts the cancelled groups: called when a group has been cancelled (`more`), and when a
  /// cancelled group has ended.
  void count_group(bool more) noexcept {
    groups_.fetch_add(more ? 1 : ~0U, std::memory_order_relaxed);  // relaxed: see the class
    count_reason(more);
  }
  /// Notes that a process has found the cancellation of all.
  void note_found() noexcept {
    was_found_.store(true, std::memory_order_relaxed);  // relaxed: read while no other thread runs
  }
  [[nodiscard]] bool was_found() const noexcept {
    return was_found_.load(std::memory_order_relaxed);  // relaxed: no other thread runs processes
  }

  /// Sets whether the current step is the last one (scheduler::step).
  void set_last_step(bool on) noexcept {
    if (is_last_step_ == on) return;
    is_last_step_ = on;
    count_reason(on);
  }
  [[nodiscard]] bool is_last_step() const noexcept { return is_last_step_; }

 private:
  void count_reason(bool more) noexcept {
    reasons_.fetch_add(more ? 1 : ~0U, std::memory_order_relaxed);  // relaxed: see the class
  }

  std::atomic<unsigned> reasons_ = 0;  // the number of reasons for needs_attention()
  std::atomic<unsigned> groups_ = 0;   // the number of cancelled groups that have not ended
  std::atomic<bool> all_ = false;
  std::atomic<bool> was_found_ = false;
  bool is_last_step_ = false;
};

}  // namespace weft::detail
