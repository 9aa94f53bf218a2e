// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cassert>

#include "sched/process.hpp"

namespace weft::detail {

/// A process that waits, as those see it who may wake it.  It lies in the operation, in the frame
/// of who waits; and stands on one list or several: at a gate, at mailboxes, among the timers, each
/// under a lock of its own.
///
///   T1  Who wakes it takes the process out, under the lock of the list on which it was found.  One
///       of them gets it, with its count; the others find nobody.
///   T2  When the process goes on, or is unwound, its operation takes itself off the lists where it
///       still stands, each under its lock.  So who finds it on a list may look at it.
///   T3  It is on its lists before it is asleep, and who has taken it waits for that when it puts
///       it (process_state.hpp).  So who has taken it puts it when it holds no lock that the
///       process may still want: the gates' is the last one that it takes.
///
/// Thread safe: take().
class waiter {
 public:
  waiter() = default;
  waiter(waiter&&) noexcept {}  // before anybody waits
  waiter& operator=(waiter&&) = delete;

  /// That process waits now; its count is ours.
  void waits(process& p) noexcept {
    process_ = &p;
    is_here_.store(true, std::memory_order_relaxed);  // relaxed: the lists have locks
  }
  /// Null if it has been taken.
  [[nodiscard]] process* take() noexcept {
    // Relaxed: all that it is to order is who is first; the rest the lists' locks do.
    if (!is_here_.load(std::memory_order_relaxed)) return nullptr;
    return is_here_.exchange(false, std::memory_order_relaxed) ? process_ : nullptr;
  }
  /// The same if one thread runs all who could.
  [[nodiscard]] process* take_alone() noexcept {
    if (!is_here_.load(std::memory_order_relaxed)) return nullptr;  // relaxed: alone
    is_here_.store(false, std::memory_order_relaxed);
    return process_;
  }
  [[nodiscard]] bool is_here() const noexcept {
    return is_here_.load(std::memory_order_relaxed);  // relaxed: as take()
  }
  /// For reports: while it is here, and nobody runs.
  [[nodiscard]] process const& who() const noexcept { return *process_; }

 private:
  process* process_ = nullptr;
  std::atomic<bool> is_here_ = false;
};

}  // namespace weft::detail
