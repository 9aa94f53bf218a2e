// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>

#include "weft/sched/base/detail/relax.hpp"
#include "weft/sched/base/process.hpp"

namespace weft::detail {

class group_tree;
class wait_group;

/// The outcome of an attempt to wait.
enum class wait_entry : std::uint8_t {
  waits,     ///< The process is on the list.
  answered,  ///< The event that it would wait for has happened.
  refused    ///< The process is cancelled, and must not wait.
};

/// Stands for a waiting process, for the threads that may wake it.  A waiter lies in the operation,
/// in the frame of the process (but for the canceller of a scope: LIMIT-1 of scope_limit.hpp); and
/// it is on one list or several: of a gate, of an external event, of mailboxes, of the timers.
/// Each list has a lock of its own.
///
///   WAITER-1  A waker takes the process out of the waiter, under the lock of the list on which it
///       found the waiter.  One waker gets the process, and the waiter's count of it (PROCESS-1 of
///       process.hpp); the other wakers find the waiter empty.
///   WAITER-2  When the process goes on, or is unwound, its operation takes the waiter off the
///       lists where it still is, each under its lock.  So a thread that finds the waiter on a list
///       may access it.
///   WAITER-3  The process is on its lists before it is asleep, and the put of a process may wait
///       until the process is asleep (sharing_state.hpp).  So a taker puts the process only when it
///       holds no lock that the process may still need.  It may hold the lock of the gates or of
///       the external events: each is the last lock that a process takes before it is asleep.
///   WAITER-4  look() calls a function on the process, for a report, under the lock of a list.
///       During the call no party takes the process: takers wait until the call has returned.  So
///       the process does not go on, and its frames stay suspended as they are: code that unwinds
///       its leaf has to take the operation off that list first, under the same lock (WAITER-2).
///       The function takes no lock, so a taker that waits for it may hold one.
///   WAITER-5  A wait is answered, or it is cancelled.  A process that was taken with an answer
///       gets that answer in its turn, even if it was cancelled in between: it finds the
///       cancellation at its next operation.  A process that was taken without an answer, or with
///       one that may be lost, such as "no sender is left" (process::mark_cancellable), finds
///       `cancelled` in that case.  So a wake-up that says "check again" is never lost: the process
///       checks.  If the check takes another operation, which may find the cancellation, the
///       wake-up is passed on (condition.hpp, CONDITION-4).  Only when
///       its run fails or ends, a process gets neither the answer nor `cancelled`: then it is
///       destroyed.
///
/// Thread safe: take(), look().
class waiter {
 public:
  /// The kind of waiter in which this one lies, such as a room_waiter: a canceller that finds a
  /// waiter in a group needs the kind in order to take the process.
  enum class kind : std::uint8_t { in_a_room, timer, receive, send };

  waiter() = default;
  waiter(waiter&&) noexcept {}  // called only before the wait begins
  waiter& operator=(waiter&&) = delete;
  ~waiter() { leave_group(); }

  /// Takes the waiter off the list of its group (GROUP-1).  The destructor of object() calls this
  /// before it leaves the room: so a canceller that finds the waiter may access object().
  void leave_group() noexcept {
    if (group_) [[unlikely]]
      leave_group_slow();
  }
  [[nodiscard]] bool is_in_group() const noexcept { return group_; }
  [[nodiscard]] kind which() const noexcept { return kind_; }
  /// The waiter in which this one lies, of the kind which(); for a timer, this waiter itself.
  [[nodiscard]] void* object() const noexcept { return object_; }

  /// Takes over a count of the process, which waits from now on.
  void hold(process& p) noexcept {
    process_ = &p;
    is_.store(state::waiting, std::memory_order_relaxed);  // relaxed: takers hold the list's lock
  }
  /// Takes the process.  Null if another party has taken it.
  [[nodiscard]] process* take() noexcept {
    for (relax wait;; wait()) {
      // relaxed: if the process is gone, this thread reads nothing of it.  The exchange below
      // decides which taker is first; the locks of the lists order all else.
      state now = is_.load(std::memory_order_relaxed);
      if (now == state::gone) return nullptr;
      // [1] acquire: pairs with [2] in look().  So the reads of a thread that has looked before
      // happen before this thread takes the process, which then goes on and changes.
      if (now == state::waiting &&
          is_.compare_exchange_strong(now, state::gone, std::memory_order_acquire,
                                      std::memory_order_relaxed)) {
        return process_;
      }
    }
  }
  /// Calls `f(process const&)` if the process waits (WAITER-4).  Throws the exceptions of `f`.
  template <class F>
  void look(F const& f) {
    // `process_` was written before the waiter entered the list, whose lock the caller holds.
    state now = state::waiting;
    // [1] acquire: pairs with the [2] of a thread that has looked before, from another list.
    for (relax wait; !is_.compare_exchange_strong(now, state::asked, std::memory_order_acquire,
                                                  std::memory_order_relaxed);
         wait()) {
      if (now == state::gone) return;
      now = state::waiting;  // it was `asked`: a thread from another list looks; wait for its end
    }
    struct end_of_look {
      std::atomic<state>& is;
      // [2] release: pairs with [1]: a later taker comes after the call of `f`.
      ~end_of_look() { is.store(state::waiting, std::memory_order_release); }
    } const at_end{is_};
    f(static_cast<process const&>(*process_));
  }
  /// Takes the process as take() does, without an exchange.  Called if all possible takers run on
  /// one thread, or all hold the same lock.
  [[nodiscard]] process* take_unsynchronized() noexcept {
    if (!is_waiting()) return nullptr;
    is_.store(state::gone, std::memory_order_relaxed);  // relaxed: no other thread takes
    return process_;
  }
  [[nodiscard]] bool is_waiting() const noexcept {
    return is_.load(std::memory_order_relaxed) != state::gone;  // relaxed: as in take()
  }
  /// The process, for lists and reports.  Called under the lock of one of the lists, or while no
  /// process runs.
  [[nodiscard]] process const& waiting_process() const noexcept { return *process_; }

 private:
  enum class state : std::uint8_t {
    gone,  // the process was taken, or does not wait yet
    waiting,
    asked  // the process still waits, and a thread looks at it (WAITER-4)
  };

  friend class group_tree;
  void leave_group_slow() noexcept;

  process* process_ = nullptr;
  wait_group* group_ = nullptr;  // written by the process, under the lock of the tree
  // Set if the waiter is in a group (group_tree.hpp).
  waiter* next_;
  waiter* previous_;
  waiter* next_taken_;
  void* object_;
  kind kind_;
  std::atomic<state> is_ = state::gone;
};

namespace group_mark {
inline constexpr std::uint8_t cancelled = 1;
inline constexpr std::uint8_t incomplete = 2;  // a task was not completed, or is_placed is set
inline constexpr std::uint8_t scope = 4;       // the group is a scope, not a join
}  // namespace group_mark
/// The part of a group of tasks that lies in the tree of groups (group_tree.hpp).
class wait_group {
 public:
  wait_group(wait_group const&) = delete;
  wait_group& operator=(wait_group const&) = delete;

  process* owner;            // set when the group is begun
  wait_group* next_leaving;  // the next group whose unwinding is continued (task.hpp)
  // Set when the group is placed in the tree; accessed under the tree's lock.
  group_tree* tree;
  wait_group* around;
  wait_group* first_inside;
  wait_group* next_beside;
  wait_group* previous_beside;
  waiter* first_waiting;
  std::atomic<std::uint8_t> marks;
  bool is_placed = false;
  bool is_on_the_ground = false;  // the group is a scope opened outside all handlers

 protected:
  explicit wait_group(std::uint8_t m) noexcept : marks(m) {}
  ~wait_group() = default;
};

}  // namespace weft::detail
