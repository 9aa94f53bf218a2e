// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>

#include "sched/base/detail/relax.hpp"
#include "sched/base/process.hpp"

namespace weft::detail {

/// The outcome of an attempt to wait.
enum class wait_entry : std::uint8_t {
  waits,     ///< The process is on the list.
  answered,  ///< The event that it would wait for has happened.
  refused    ///< The process is cancelled, and does not wait any more.
};

/// A waiting process, as seen by the threads that may wake it.  It lies in the operation, in the
/// frame of the process; and it is on one list or several: a gate's, mailboxes', the timers', each
/// under a lock of its own.
///
///   WAITER-1  A waker takes the process out of the waiter, under the lock of the list on which it
///       found the waiter.  One waker gets the process, with its count; the others find the waiter
///       empty.
///   WAITER-2  When the process goes on, or is unwound, its operation takes the waiter off the
///       lists where it still is, each under its lock.  So a thread that finds the waiter on a list
///       may access it.
///   WAITER-3  The process is on its lists before it is asleep, and the put of a process waits
///       until it is asleep (sharing_state.hpp).  So a taker puts the process when it holds no lock
///       that the process may still need; the lock of the gates is the last one that the process
///       takes.
///   WAITER-4  A waker that wakes only certain processes asks before it takes, under the lock of
///       the list.  While it asks no other party takes the process: takers wait for the answer.  So
///       the process has no taker until then, and its frames stay suspended as they are: it does
///       not go on, and code that unwinds its leaf has to take the operation off that list first
///       (WAITER-2).  The question takes no lock, so a taker that waits for the answer may hold
///       one.
///   WAITER-5  A wait is answered, or it is cancelled.  A process that was taken with an answer
///       gets that answer in its turn, even if it was cancelled in between: it finds the
///       cancellation at its next operation.  A process that was taken without an answer, or with
///       one that may be lost, such as "no sender is left" (process::mark_cancellable), finds
///       `cancelled`.  So a wake-up that says "check again" is never lost: the process checks.  If
///       the check takes another operation, which may find the cancellation, the wake-up is passed
///       on (condition.hpp, CONDITION-4).  A process is destroyed instead only when its run fails
///       or ends.
///
/// Thread safe: take(), take_if().
class waiter {
 public:
  waiter() = default;
  waiter(waiter&&) noexcept {}  // before it waits
  waiter& operator=(waiter&&) = delete;

  /// That process waits now; the waiter takes over its count.
  void hold(process& p) noexcept {
    process_ = &p;
    is_.store(state::waiting, std::memory_order_relaxed);  // relaxed: the lists have locks
  }
  /// Takes the process.  Null if another party has taken it.
  [[nodiscard]] process* take() noexcept {
    for (relax wait;; wait()) {
      // relaxed, if it is gone: the exchange orders only which taker is first; the locks of the
      // lists order the rest.
      state now = is_.load(std::memory_order_relaxed);
      if (now == state::gone) return nullptr;
      // [1] acquire: pairs with [2]: an asker has read the process before the process goes on and
      // changes.
      if (now == state::waiting &&
          is_.compare_exchange_strong(now, state::gone, std::memory_order_acquire,
                                      std::memory_order_relaxed)) {
        process_->clear_wait_place();
        return process_;
      }
    }
  }
  /// Takes the process if it is here and meant: calls `is_meant(process const&)` at most once
  /// (WAITER-4).
  template <class IsMeant>
  [[nodiscard]] process* take_if(IsMeant const& is_meant) noexcept {
    // The process was written before it entered the list, whose lock the caller holds.
    state now = state::waiting;
    // [1] acquire: pairs with [2].  An earlier asker, on another list, has read the process before
    // this thread takes it; and before a later taker has it, which sees only the store of this
    // thread.
    for (relax wait; !is_.compare_exchange_strong(now, state::asked, std::memory_order_acquire,
                                                  std::memory_order_relaxed);
         wait()) {
      if (now == state::gone) return nullptr;
      now = state::waiting;  // another list's asker asks: it means other processes
    }
    bool const is_taken = is_meant(static_cast<process const&>(*process_));
    if (is_taken) process_->clear_wait_place();
    // [2] release: pairs with [1].
    is_.store(is_taken ? state::gone : state::waiting, std::memory_order_release);
    return is_taken ? process_ : nullptr;
  }
  /// As take(), if one thread runs all possible takers, or all of them hold one lock.
  [[nodiscard]] process* take_unsynchronized() noexcept {
    if (!is_waiting()) return nullptr;
    is_.store(state::gone, std::memory_order_relaxed);  // relaxed: no other thread takes
    process_->clear_wait_place();
    return process_;
  }
  [[nodiscard]] bool is_waiting() const noexcept {
    return is_.load(std::memory_order_relaxed) != state::gone;  // relaxed: as in take()
  }
  /// For lists and reports: called under a lock of its lists, or while no process runs.
  [[nodiscard]] process const& waiting_process() const noexcept { return *process_; }
  /// The process is on that list.  Called by the list, if one thread runs all processes.
  void set_wait_place(process::wait_place where, void* what) noexcept {
    process_->set_wait_place(where, what);
  }

 private:
  enum class state : std::uint8_t {
    gone,  // taken, or not yet waiting
    waiting,
    asked  // here, while an asker decides whether to take it (WAITER-4)
  };

  process* process_ = nullptr;
  std::atomic<state> is_ = state::gone;
};

}  // namespace weft::detail
