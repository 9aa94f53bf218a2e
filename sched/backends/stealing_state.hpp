// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cassert>
#include <cstdint>

namespace weft {

/// The state of a process, as other threads see it.
enum class stealing_state : std::uint8_t {
  ready,    ///< It is in a queue, or about to enter one.
  running,  ///< A thread runs it.
  blocked,  ///< It waits: for other processes, for a time, for an external event.
  idle,     ///< It waits for mail.
  complete  ///< It has ended.
};

/// The legal moves, from the state on the left to the state above, and the threads that make them:
///
///               ready   running  blocked  idle   complete
///     ready             taken                               the thread that took it from its queue
///     running   yields           waits    waits  ends       its own thread
///     blocked   woken   handed                              the thread that has what it waits for
///     idle      woken   handed                              the same
///
/// `handed`: the sender hands the thread over to the receiver, without a queue in between.
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

/// The memory order of each label.
struct stealing_state_orders {
  static constexpr auto waits = std::memory_order_release;  // [1]
  static constexpr auto takes = std::memory_order_acquire;  // [2]
  static constexpr auto flags = std::memory_order_release;  // [3]
  static constexpr auto told = std::memory_order_acquire;   // [4]
};

/// The state of a process, and in the same word a flag: the process was woken while its own thread
/// still had it.  A process enters the lists where it can be found before it sleeps.  A waker that
/// finds it then must not run it, since its thread is not done with it, and must not wait for that
/// either: it sets the flag, and the process's thread puts it into a queue when it lets go of it.
///
///   LIFE-1  Only its own thread moves a process out of `running`; only the thread that has taken
///       it moves it out of `ready`.  So these moves are plain stores, except the one to a state in
///       which it waits, since a waker may set the flag.
///   LIFE-2  Each wait is ended by one thread only: the one that has taken the waiter (waiter.hpp).
///       So the flag is set at most once in a wait, and no other thread moves the process out of
///       one.
template <class Orders = stealing_state_orders>
class basic_stealing_state {
 public:
  /// For reports, and for the owner.
  [[nodiscard]] stealing_state now() const noexcept {
    return static_cast<stealing_state>(word_.load(std::memory_order_relaxed) &
                                       ~woken);  // relaxed: see above
  }
  /// A move by the owner (LIFE-1).
  void move(stealing_state to) noexcept {
    assert(is_legal_move(now(), to));
    // Relaxed: the next owner gets the process through a queue, which publishes it.
    word_.store(word_of(to), std::memory_order_relaxed);
  }
  /// Ready; called by the thread that puts it: its own thread, or the one that has made it
  /// (LIFE-1).
  void set_ready() noexcept {
    assert(now() == stealing_state::running || now() == stealing_state::ready);
    word_.store(word_of(stealing_state::ready), std::memory_order_relaxed);  // relaxed: as in move
  }
  /// Its thread lets go of it; in the state `to` it waits.  False if it was woken meanwhile: then
  /// it is ready, and its thread must put it.
  [[nodiscard]] bool wait(stealing_state to) noexcept {
    assert(is_legal_move(stealing_state::running, to));
    std::uint8_t found = word_of(stealing_state::running);
    // [1] release: pairs with the acquire [2] in wake().  [4] acquire: pairs with the release [3]
    // there.
    if (word_.compare_exchange_strong(found, word_of(to), Orders::waits, Orders::told)) return true;
    assert(found == (word_of(stealing_state::running) | woken));
    word_.store(word_of(stealing_state::ready), std::memory_order_relaxed);  // relaxed: as in move
    return false;
  }
  /// For the thread that has what the process waits for (LIFE-2).  True if the process is ready
  /// now, and the caller must put it; false if its own thread will put it, which then sees what the
  /// caller wrote before.
  [[nodiscard]] bool wake() noexcept {
    std::uint8_t found = word_.load(Orders::takes);  // [2] acquire: pairs with [1] in wait()
    // [3] release: pairs with the acquire [4] in wait().  On failure its thread has just let go of
    // it: [2].
    if (found == word_of(stealing_state::running) &&
        word_.compare_exchange_strong(found, word_of(stealing_state::running) | woken,
                                      Orders::flags, Orders::takes))
      return false;
    if (found != word_of(stealing_state::ready))
      move(stealing_state::ready);  // else it has never run
    return true;
  }
  /// The same, but the caller owns the process at once.  While its own thread has it, this waits:
  /// for a few instructions.
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
