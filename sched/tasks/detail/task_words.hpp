// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>

/// What those look at who wait for tasks: a word each.
///
/// `Atomic` is std::atomic, or what counts the steps in a test.
namespace weft::detail {

/// How many tasks are left, and whether their owner waits for that to be none.  One that is not
/// counted may add some at any time: also when the last has just ended.
template <template <class> class Atomic = std::atomic>
class task_count {
 public:
  /// One load.  acquire: with end_one(), what they all did is seen.
  [[nodiscard]] bool is_zero() const noexcept { return word_.load(std::memory_order_acquire) == 0; }

  void add_one() noexcept {
    word_.fetch_add(one, std::memory_order_relaxed);  // relaxed: what it starts is put after it
  }
  /// True: it was the last, and its owner waited; who is told so has it go on.  That, that it waits
  /// no more, and that none is left, is one step: so one is told, and the others, who may come
  /// after it, are done with the word.
  [[nodiscard]] bool end_one() noexcept {
    std::uint32_t found = word_.load(std::memory_order_relaxed);  // relaxed: [1] makes sure
    // [1] release: with is_zero() and wait(), and of the others, with the last: acquire.
    while (!word_.compare_exchange_weak(found, found == (one | waits) ? 0 : found - one,
                                        std::memory_order_acq_rel, std::memory_order_relaxed)) {
    }
    return found == (one | waits);
  }
  /// The owner's: it waits, unless none is left.
  [[nodiscard]] bool wait() noexcept {
    std::uint32_t found = word_.load(std::memory_order_acquire);  // acquire: with end_one()
    // release: who has us go on finds us asleep.
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

/// Whether a task has ended; else whether somebody waits for that.  And who still has it: whoever
/// waits for it, and the scope that it is in.  Who is the last of those is told so.
template <template <class> class Atomic = std::atomic>
class task_state {
 public:
  explicit task_state(bool in_a_scope) noexcept : word_(in_a_scope ? 0 : scope_let_go) {}

  /// One load.  acquire: with end().
  [[nodiscard]] bool has_ended() const noexcept {
    return (word_.load(std::memory_order_acquire) & ended) != 0;
  }
  enum class after : std::uint8_t { nothing, waited_for, unreferenced };
  /// It has ended; unless somebody waits: then that is said, and to be said under the lock, again.
  [[nodiscard]] after end() noexcept {
    std::uint32_t found = word_.load(std::memory_order_relaxed);  // relaxed: [1] makes sure
    do {
      if (found & waited_for) return after::waited_for;
      // [1] release: with has_ended().  acquire: whoever let go has done with it.
    } while (!word_.compare_exchange_weak(found, found | ended, std::memory_order_acq_rel,
                                          std::memory_order_relaxed));
    return is_last(found, ended) ? after::unreferenced : after::nothing;
  }
  /// The same under the lock, when those who wait are known.
  [[nodiscard]] after end_at_last() noexcept { return set(ended); }
  /// Under the lock: somebody is to wait.  False if it has ended.
  [[nodiscard]] bool announce_wait() noexcept {
    // acquire: with end().  release: as the lock.
    return (word_.fetch_or(waited_for, std::memory_order_acq_rel) & ended) == 0;
  }
  /// By the handle.
  [[nodiscard]] bool drop_handle() noexcept { return set(handle_dropped) == after::unreferenced; }
  /// By the scope.
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
    // acq_rel, with itself: who is last has seen all that was done with it.
    std::uint32_t const found = word_.fetch_or(bit, std::memory_order_acq_rel);
    return is_last(found, bit) ? after::unreferenced : after::nothing;
  }

  Atomic<std::uint32_t> word_;
};

}  // namespace weft::detail
