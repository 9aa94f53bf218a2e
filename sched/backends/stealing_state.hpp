// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cassert>
#include <cstdint>

namespace weft {

/// What becomes of a process, as those on other threads see it (seed 004).
enum class stealing_state : std::uint8_t {
  ready,    ///< It stands in a queue, or is about to.
  running,  ///< A thread has it.
  blocked,  ///< It waits: for others, for a time, for what is outside.
  idle,     ///< It waits for mail.
  complete  ///< It is over.
};

/// The moves there are: a table, from above to the right.
///
///               ready   running  blocked  idle   complete
///     ready             taken                               who has taken it from its queue
///     running   yields           waits    waits  ends       its thread
///     blocked   woken   handed                              who has what it waits for
///     idle      woken   handed                              the same
///
/// It is Ready that seed 004 has a process come from when a worker takes it, and Complete where it
/// ends.  `handed`: who sends goes on with the receiver, without a queue in between.
constexpr bool is_legal_move(stealing_state from, stealing_state to) noexcept {
  constexpr bool table[5][5] = {
      {false, true, false, false, false},  // ready
      {true, false, true, true, true},     // running
      {true, true, false, false, false},   // blocked
      {true, true, false, false, false},   // idle
      {},                                  // complete
  };
  return table[static_cast<unsigned>(from)][static_cast<unsigned>(to)];
}

/// The memory orders of the labels.
struct stealing_state_orders {
  static constexpr auto waits = std::memory_order_release;  // [1]
  static constexpr auto takes = std::memory_order_acquire;  // [2]
  static constexpr auto flags = std::memory_order_release;  // [3]
  static constexpr auto told = std::memory_order_acquire;   // [4]
};

/// A lifecycle, and a flag in the same word: that the process was woken while its thread still had
/// it.  A process says where it can be found before it has gone to sleep; who finds it then must
/// not have it run, since its thread is not done with it, and must not wait for that either: it
/// leaves the flag, and the thread puts the process into a queue when it has let go of it.
///
///   LIFE-1  Out of `running` only its own thread moves it; out of `ready` only who has taken it.  So
///       these moves are plain stores, but one: to a state in which it waits, as others may leave
///       the flag.
///   LIFE-2  Each wait is ended by one other only: by who has taken the waiter (detail/waiter.hpp).  So
///       the flag is left once in a wait at most, and nobody else moves it out of one.
template <class Orders = stealing_state_orders>
class basic_stealing_state {
 public:
  /// For reports, and of one's own.
  [[nodiscard]] stealing_state now() const noexcept {
    return static_cast<stealing_state>(word_.load(std::memory_order_relaxed) &
                                       ~woken);  // relaxed: it is
  }
  /// A move of who has it (LIFE-1).
  void move(stealing_state to) noexcept {
    assert(is_legal_move(now(), to));
    // Relaxed: who is to have it next gets it by way of a queue, which publishes it.
    word_.store(word_of(to), std::memory_order_relaxed);
  }
  /// Ready, by who puts it: its own thread, or whose it is before it has run (LIFE-1).
  void set_ready() noexcept {
    assert(now() == stealing_state::running || now() == stealing_state::ready);
    word_.store(word_of(stealing_state::ready), std::memory_order_relaxed);  // relaxed: as in move
  }
  /// Its thread lets go of it: `to` is one of those in which it waits.  False if it was woken
  /// meanwhile: then it is ready, and its thread is to put it.
  [[nodiscard]] bool wait(stealing_state to) noexcept {
    assert(is_legal_move(stealing_state::running, to));
    std::uint8_t found = word_of(stealing_state::running);
    // [1] release: who wakes it [2] has all that it wrote.  [4] acquire: with [3].
    if (word_.compare_exchange_strong(found, word_of(to), Orders::waits, Orders::told)) return true;
    assert(found == (word_of(stealing_state::running) | woken));
    word_.store(word_of(stealing_state::ready), std::memory_order_relaxed);  // relaxed: as in move
    return false;
  }
  /// By who has what it waits for (LIFE-2).  True if it is ready now, and to be put; false if its
  /// thread will put it.  What was written before, its thread has then.
  [[nodiscard]] bool wake() noexcept {
    std::uint8_t found = word_.load(Orders::takes);  // [2] acquire: with [1]
    // [3] release: with [4].  If it fails: it has let go of it at this moment [2].
    if (found == word_of(stealing_state::running) &&
        word_.compare_exchange_strong(found, word_of(stealing_state::running) | woken,
                                      Orders::flags, Orders::takes))
      return false;
    if (found != word_of(stealing_state::ready))
      move(stealing_state::ready);  // else it has never run
    return true;
  }
  /// The same, and it is the caller's at once: waits while its thread has it, a few instructions.
  template <class Relax>
  void take_over(Relax relax) noexcept {
    while (word_.load(Orders::takes) == word_of(stealing_state::running)) relax();  // [2], as above
    move(stealing_state::running);
  }

 private:
  static constexpr std::uint8_t woken = 8;

  static constexpr std::uint8_t word_of(stealing_state s) noexcept {
    return static_cast<std::uint8_t>(s);
  }

  std::atomic<std::uint8_t> word_ = word_of(stealing_state::ready);
};

using stealing_state_word = basic_stealing_state<>;

}  // namespace weft
