// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>

#include "weft/sched/base/detail/relax.hpp"
#include "weft/sched/base/process.hpp"

namespace weft::detail {

/// The outcome of an attempt to wait.
enum class wait_entry : std::uint8_t {
  waits,     ///< The process is on the list.
  answered,  ///< The event that it would wait for has happened.
  refused    ///< The process is cancelled, and does not wait any more.
};

/// A waiting process, as seen by the threads that may wake it.  It lies in the operation, in the
/// frame of the process; and it is on one list or several: of a gate, of an external event, of
/// mailboxes, of the timers.  Each list has a lock of its own.
///
///   WAITER-1  A waker takes the process out of the waiter, under the lock of the list on which it
///       found the waiter.  One waker gets the process, with its count; the other wakers find the
///       waiter empty.
///   WAITER-2  When the process goes on, or is unwound, its operation takes the waiter off the
///       lists where it still is, each under its lock.  So a thread that finds the waiter on a list
///       may access it.
///   WAITER-3  The process is on its lists before it is asleep, and the put of a process may wait
///       until the process is asleep (sharing_state.hpp).  So a taker puts the process only when it
///       holds no lock that the process may still need.  It may hold the lock of the gates or of
///       the external events: each is the last lock that a process takes before it is asleep.
///   WAITER-4  A waker that wakes only certain processes calls `is_meant(process)` before it takes
///       a process, under the lock of the list.  During the call no other party takes the process:
///       takers wait until the call has returned.  So the process does not go on, and its frames
///       stay suspended as they are: code that unwinds its leaf has to take the operation off that
///       list first, under the same lock (WAITER-2).  `is_meant` takes no lock, so a taker that
///       waits for it may hold one.
///   WAITER-5  A wait is answered, or it is cancelled.  A process that was taken with an answer
///       gets that answer in its turn, even if it was cancelled in between: it finds the
///       cancellation at its next operation.  A process that was taken without an answer, or with
///       one that may be lost, such as "no sender is left" (process::mark_cancellable), finds
///       `cancelled` in that case.  So a wake-up that says "check again" is never lost: the process
///       checks.  If the check takes another operation, which may find the cancellation, the
///       wake-up is passed on (condition.hpp, CONDITION-4).  A process is destroyed instead only
///       when its run fails or ends.
///
/// Thread safe: take(), take_if().
class waiter {
 public:
  waiter() = default;
  waiter(waiter&&) noexcept {}  // before it waits
  waiter& operator=(waiter&&) = delete;

  /// The process waits from now on; the waiter takes over a count of it.
  void hold(process& p) noexcept {
    process_ = &p;
    is_.store(state::waiting, std::memory_order_relaxed);  // relaxed: takers hold the list's lock
  }
  /// Takes the process.  Null if another party has taken it.
  [[nodiscard]] process* take() noexcept {
    for (relax wait;; wait()) {
      // relaxed: if the process is gone, this thread reads nothing of it.  Which taker is first is
      // decided by the exchange below; all else is ordered by the locks of the lists.
      state now = is_.load(std::memory_order_relaxed);
      if (now == state::gone) return nullptr;
      // [1] acquire: pairs with [2].  So the reads of a thread that has asked before happen before
      // this thread takes the process, which then goes on and changes.
      if (now == state::waiting &&
          is_.compare_exchange_strong(now, state::gone, std::memory_order_acquire,
                                      std::memory_order_relaxed)) {
        process_->clear_wait_place();
        return process_;
      }
    }
  }
  /// Takes the process if it waits here and `is_meant(process const&)` is true, which is called at
  /// most once (WAITER-4).
  template <class IsMeant>
  [[nodiscard]] process* take_if(IsMeant const& is_meant) noexcept {
    // `process_` was written before the waiter entered the list, whose lock the caller holds.
    state now = state::waiting;
    // [1] acquire: pairs with the [2] of a thread that has asked before, from another list.  So the
    // reads of that thread happen before this thread takes the process.  A later taker acquires
    // only the store [2] of this thread; so the acquire is needed even if this thread does not take
    // the process.
    for (relax wait; !is_.compare_exchange_strong(now, state::asked, std::memory_order_acquire,
                                                  std::memory_order_relaxed);
         wait()) {
      if (now == state::gone) return nullptr;
      now = state::waiting;  // asked: a thread on another list decides first; wait for it
    }
    bool const is_taken = is_meant(static_cast<process const&>(*process_));
    if (is_taken) process_->clear_wait_place();
    // [2] release: pairs with [1]: a later taker or asker comes after the call of `is_meant`.
    is_.store(is_taken ? state::gone : state::waiting, std::memory_order_release);
    return is_taken ? process_ : nullptr;
  }
  /// As take().  Called if all possible takers run on one thread, or all hold the same lock.
  [[nodiscard]] process* take_unsynchronized() noexcept {
    if (!is_waiting()) return nullptr;
    is_.store(state::gone, std::memory_order_relaxed);  // relaxed: no other thread takes
    process_->clear_wait_place();
    return process_;
  }
  [[nodiscard]] bool is_waiting() const noexcept {
    return is_.load(std::memory_order_relaxed) != state::gone;  // relaxed: as in take()
  }
  /// The process, for lists and reports.  Called under the lock of one of the lists, or while no
  /// process runs.
  [[nodiscard]] process const& waiting_process() const noexcept { return *process_; }
  /// Notes on which list the process is.  Called by the list, if one thread runs all processes.
  void set_wait_place(process::wait_place where, void* what) noexcept {
    process_->set_wait_place(where, what);
  }

 private:
  enum class state : std::uint8_t {
    gone,  // taken, or not yet waiting
    waiting,
    asked  // still waiting, while a thread decides whether to take the process (WAITER-4)
  };

  process* process_ = nullptr;
  std::atomic<state> is_ = state::gone;
};

}  // namespace weft::detail
