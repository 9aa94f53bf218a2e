// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>

#include "sched/base/detail/relax.hpp"
#include "sched/base/process.hpp"

namespace weft::detail {

/// What becomes of a process that is about to wait.
enum class wait_entry : std::uint8_t {
  waits,     ///< It stands on the list.
  answered,  ///< What it would wait for has happened.
  refused    ///< It is to end, and does not wait any more.
};

/// A process that waits, as those see it who may wake it.  It lies in the operation, in the frame
/// of who waits; and stands on one list or several: at a gate, at mailboxes, among the timers, each
/// under a lock of its own.
///
///   WAITER-1  Who wakes it takes the process out, under the lock of the list on which it was found.  One
///       of them gets it, with its count; the others find nobody.
///   WAITER-2  When the process goes on, or is unwound, its operation takes itself off the lists where it
///       still stands, each under its lock.  So who finds it on a list may look at it.
///   WAITER-3  It is on its lists before it is asleep, and who has taken it waits for that when it puts
///       it (sharing_state.hpp).  So who has taken it puts it when it holds no lock that the
///       process may still want: the gates' is the last one that it takes.
///   WAITER-4  Who wakes only those who are meant asks before it takes, under the lock of the list, and
///       while it asks nobody else takes the process: who comes waits for the answer.  So it is
///       nobody's until then, and its chain of frames stays as it is: it does not go on, and what
///       unwinds its leaf has to take the operation off that list first (WAITER-2).  The question takes
///       no lock, and so who waits for the answer may hold one.
///   WAITER-5  A wait is answered, or it is cancelled.  A process that was taken with an answer gets that
///       answer in its turn, even if it was cancelled in between: it finds the cancellation at its
///       next operation.  A process that was taken without one, or with one that would not be lost,
///       as that nobody is left who sends (process::must_be_told), finds `cancelled`.
///       So a wake-up that says "look again" is never lost: the process looks.  Where looking takes
///       an operation more, which may find the cancellation, the wake-up is passed on
///       (condition.hpp, CONDITION-4).  A process is destroyed instead only when its run fails or ends.
///
/// Thread safe: take(), take_if().
class waiter {
 public:
  waiter() = default;
  waiter(waiter&&) noexcept {}  // before anybody waits
  waiter& operator=(waiter&&) = delete;

  /// That process waits now; its count is ours.
  void hold(process& p) noexcept {
    process_ = &p;
    is_.store(state::waiting, std::memory_order_relaxed);  // relaxed: the lists have locks
  }
  /// Null if it has been taken.
  [[nodiscard]] process* take() noexcept {
    for (relax wait;; wait()) {
      // Relaxed, if it is gone: all that it orders then is who was first; the rest the lists' locks
      // do.
      state now = is_.load(std::memory_order_relaxed);
      if (now == state::gone) return nullptr;
      // [1] acquire: with [2].  Who asked has looked at the process before it goes on and changes.
      if (now == state::waiting &&
          is_.compare_exchange_strong(now, state::gone, std::memory_order_acquire,
                                      std::memory_order_relaxed)) {
        process_->clear_wait_place();
        return process_;
      }
    }
  }
  /// The same if it is here and meant: `is_meant(process const&)`, asked at most once (WAITER-4).
  template <class IsMeant>
  [[nodiscard]] process* take_if(IsMeant const& is_meant) noexcept {
    // What we look at was written before it entered the list, whose lock we hold.
    state now = state::waiting;
    // [1] acquire: with [2].  Who asked before us, on another list, has looked at it before it is
    // ours, or goes to who takes it after us: he sees our store only.
    for (relax wait; !is_.compare_exchange_strong(now, state::asked, std::memory_order_acquire,
                                                  std::memory_order_relaxed);
         wait()) {
      if (now == state::gone) return nullptr;
      now = state::waiting;  // somebody else asks: for others than we do
    }
    bool const is_taken = is_meant(static_cast<process const&>(*process_));
    if (is_taken) process_->clear_wait_place();
    // [2] release: with [1].
    is_.store(is_taken ? state::gone : state::waiting, std::memory_order_release);
    return is_taken ? process_ : nullptr;
  }
  /// The same as take() if one thread runs all who could, or one lock is held by all of them.
  [[nodiscard]] process* take_unsynchronized() noexcept {
    if (!is_waiting()) return nullptr;
    is_.store(state::gone, std::memory_order_relaxed);  // relaxed: alone
    process_->clear_wait_place();
    return process_;
  }
  [[nodiscard]] bool is_waiting() const noexcept {
    return is_.load(std::memory_order_relaxed) != state::gone;  // relaxed: as take()
  }
  /// For reports: while it is here, and nobody runs.
  [[nodiscard]] process const& waiting_process() const noexcept { return *process_; }
  /// It is here.  For the list that it enters, if one thread runs all processes.
  void set_wait_place(process::wait_place where, void* what) noexcept {
    process_->set_wait_place(where, what);
  }

 private:
  enum class state : std::uint8_t {
    gone,  // or never came
    waiting,
    asked  // here, and who asks is to say whether it takes it (WAITER-4)
  };

  process* process_ = nullptr;
  std::atomic<state> is_ = state::gone;
};

}  // namespace weft::detail
