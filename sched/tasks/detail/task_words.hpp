// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>

/// The words that waiters for tasks read: one for each scope, and one for each task.
///
/// `Atomic` is std::atomic; a test passes a type that counts the steps.
namespace weft::detail {

/// The number of tasks that have not ended, and whether their owner waits for zero.  A task that is
/// not counted here may add one at any time, even when the last one has just ended.
template <template <class> class Atomic = std::atomic>
class task_count {
 public:
  /// One load.  acquire: pairs with the release [1] in end_one(): the caller sees all that the
  /// tasks did.
  [[nodiscard]] bool is_zero() const noexcept { return word_.load(std::memory_order_acquire) == 0; }

  void add_one() noexcept {
    word_.fetch_add(one, std::memory_order_relaxed);  // relaxed: the put that follows publishes it
  }
  /// Counts the end of a task.  True if it was the last task and the owner waited: then the caller
  /// must resume the owner.  One step sets both that no task is left and that the owner no longer
  /// waits.  So exactly one caller gets true.  The other callers do not touch the word after their
  /// step: the owner may have gone on and destroyed it.
  [[nodiscard]] bool end_one() noexcept {
    std::uint32_t found = word_.load(std::memory_order_relaxed);  // relaxed: [1] checks it
    // [1] release: pairs with is_zero(), wait(), and the acquire of the last caller, which so sees
    // what all tasks did.  acquire: pairs with itself, and with the release in wait().
    while (!word_.compare_exchange_weak(found, found == (one | waits) ? 0 : found - one,
                                        std::memory_order_acq_rel, std::memory_order_relaxed)) {
    }
    return found == (one | waits);
  }
  /// Called by the owner: it waits, unless no task is left.  Returns whether it waits.
  [[nodiscard]] bool wait() noexcept {
    std::uint32_t found = word_.load(std::memory_order_acquire);  // acquire: pairs with [1]
    // release: pairs with [1] in end_one(): the thread that resumes the owner finds it suspended.
    while (found != 0 &&
           !word_.compare_exchange_weak(found, found | waits, std::memory_order_release,
                                        std::memory_order_acquire)) {
    }
    return found != 0;
  }

 private:
  static constexpr std::uint32_t waits = 1;
  static constexpr std::uint32_t one = 2;
  Atomic<std::uint32_t> word_{0};
};

/// Whether a task has ended, whether a process waits for that, and which parties still refer to the
/// task: its handle and its scope.  The last party to let go learns that it is the last.
template <template <class> class Atomic = std::atomic>
class task_state {
 public:
  explicit task_state(bool in_a_scope) noexcept : word_(in_a_scope ? 0 : scope_let_go) {}

  /// Costs one load.
  [[nodiscard]] bool has_ended() const noexcept {
    // acquire: pairs with [1] in end(): the caller sees what the task did.
    return (word_.load(std::memory_order_acquire) & ended) != 0;
  }
  enum class after : std::uint8_t { nothing, waited_for, unreferenced };
  /// Marks the task as ended.  But if a process waits, it only returns `waited_for`: then the
  /// caller calls end_at_last() under the lock of the task room.
  [[nodiscard]] after end() noexcept {
    std::uint32_t found = word_.load(std::memory_order_relaxed);  // relaxed: [1] checks it
    do {
      if (found & waited_for) return after::waited_for;
      // [1] release: pairs with has_ended().  acquire: pairs with the release in set(), by parties
      // that have let go.
    } while (!word_.compare_exchange_weak(found, found | ended, std::memory_order_acq_rel,
                                          std::memory_order_relaxed));
    return is_last(found, ended) ? after::unreferenced : after::nothing;
  }
  /// Marks the task as ended.  Called under the lock of the task room, when the waiters have been
  /// taken off the task's list.
  [[nodiscard]] after end_at_last() noexcept { return set(ended); }
  /// Notes that a process is about to wait.  Called under the lock of the task room.  False if the
  /// task has ended.
  [[nodiscard]] bool announce_wait() noexcept {
    // acquire: pairs with [1] in end(): if the task has ended, the caller sees what it did.  The
    // release has no partner: end_at_last() is called under the same lock.
    return (word_.fetch_or(waited_for, std::memory_order_acq_rel) & ended) == 0;
  }
  /// Called when the handle is destroyed.  True if that was the last reference.
  [[nodiscard]] bool drop_handle() noexcept { return set(handle_dropped) == after::unreferenced; }
  /// Called by the scope.  True if that was the last reference.
  [[nodiscard]] bool let_go() noexcept { return set(scope_let_go) == after::unreferenced; }

 private:
  static constexpr std::uint32_t ended = 1;
  static constexpr std::uint32_t waited_for = 2;
  static constexpr std::uint32_t handle_dropped = 4;
  static constexpr std::uint32_t scope_let_go = 8;
  static constexpr std::uint32_t all = ended | handle_dropped | scope_let_go;

  [[nodiscard]] static bool is_last(std::uint32_t found, std::uint32_t bit) noexcept {
    return ((found | bit) & all) == all;
  }
  [[nodiscard]] after set(std::uint32_t bit) noexcept {
    // acq_rel: pairs with itself: the last party sees all that was done with the task.
    std::uint32_t const found = word_.fetch_or(bit, std::memory_order_acq_rel);
    return is_last(found, bit) ? after::unreferenced : after::nothing;
  }

  Atomic<std::uint32_t> word_;
};

}  // namespace weft::detail
