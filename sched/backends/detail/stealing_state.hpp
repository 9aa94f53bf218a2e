// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cassert>
#include <cstdint>

namespace weft {

/// The state of a process, as other threads see it.
enum class stealing_state : std::uint8_t {
  ready,    ///< The process is in a queue, or about to enter one.
  running,  ///< A thread runs the process.
  blocked,  ///< The process waits: for other processes, for a time, for an external event.
  idle,     ///< The process waits for mail.
  complete  ///< The process has ended.
};

namespace detail {

/// The legal moves, from the state on the left to the state above, each with its reason; on the
/// right the threads that make them:
///
///               ready   running  blocked  idle   complete
///     ready             taken                               the thread that took it from its queue
///     running   yields           waits    waits  ends       its own thread
///     blocked   woken   handed                              the thread that has what it waits for
///     idle      woken   handed                              the thread that has what it waits for
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

/// The memory orders at the labels [1] to [4]: a parameter, so that tests can weaken them.
struct stealing_state_orders {
  static constexpr auto waits = std::memory_order_release;  // [1]
  static constexpr auto takes = std::memory_order_acquire;  // [2]
  static constexpr auto flags = std::memory_order_release;  // [3]
  static constexpr auto told = std::memory_order_acquire;   // [4]
};

/// The state of a process, and in the same word a flag: the process was woken while its own thread
/// still had it.  Before a process sleeps, it enters the lists where wakers can find it.  A waker
/// that finds it in between must not run it, since the process's own thread still uses it; nor
/// shall the waker wait until that thread lets go of the process.  So the waker sets the flag; the
/// process's own thread sees the flag when it lets go, and puts the process into a queue.
///
///   LIFE-1  A process is moved out of `running` by its own thread only, and out of `ready` only by
///       the thread that has taken it.  So these moves are plain stores.  The exception is the move
///       from `running` to a state in which the process waits: it is an exchange, since a waker may
///       set the flag at the same time.
///   LIFE-2  Each wait is ended by one thread only: the one that has taken the waiter (waiter.hpp).
///       So the flag is set at most once in a wait, and no other thread moves the process out of
///       the state in which it waits.
///
/// Thread safe: wake() and take_over() are for any thread, as LIFE-2 says; LIFE-1 says which thread
/// calls the others.
template <class Orders = stealing_state_orders>
class basic_stealing_state {
 public:
  /// The state, without the flag.
  [[nodiscard]] stealing_state now() const noexcept {
    // relaxed: the caller owns the process, and so sees the last move; or only reports the state.
    return static_cast<stealing_state>(word_.load(std::memory_order_relaxed) & ~woken);
  }
  /// Moves the process to another state.  Called by the thread that owns the process (LIFE-1).
  void move(stealing_state to) noexcept {
    assert(is_legal_move(now(), to));
    // Relaxed: the next owner gets the process through a queue, which publishes it.
    word_.store(word_of(to), std::memory_order_relaxed);
  }
  /// Makes the process ready.  Called by the thread that puts it, which is its own thread or the
  /// thread that has made it (LIFE-1).
  void set_ready() noexcept {
    assert(now() == stealing_state::running || now() == stealing_state::ready);
    // Relaxed: a queue publishes the process to its next owner.
    word_.store(word_of(stealing_state::ready), std::memory_order_relaxed);
  }
  /// Moves the process to the state `to`, in which it waits.  Called by its own thread, which lets
  /// go of the process.  False if the process was woken meanwhile: then it is ready, and the caller
  /// must put it.
  [[nodiscard]] bool wait(stealing_state to) noexcept {
    assert(is_legal_move(stealing_state::running, to));
    std::uint8_t found = word_of(stealing_state::running);
    // [1] release: pairs with the acquire [2] in wake(): the waker sees what the process wrote.
    // [4] acquire, on failure: pairs with the release [3] in wake(), which set the flag.
    if (word_.compare_exchange_strong(found, word_of(to), Orders::waits, Orders::told)) return true;
    assert(found == (word_of(stealing_state::running) | woken));
    // Relaxed: a queue publishes the process to its next owner.
    word_.store(word_of(stealing_state::ready), std::memory_order_relaxed);
    return false;
  }
  /// Wakes the process.  Called by the thread that has what the process waits for (LIFE-2).  True
  /// if the process is ready now, and the caller must put it.  False if the process's own thread
  /// will put it; that thread then sees what the caller wrote before.
  [[nodiscard]] bool wake() noexcept {
    std::uint8_t found = word_.load(Orders::takes);  // [2] acquire: pairs with [1] in wait()
    // [3] release: pairs with the acquire [4] in wait().  If the exchange fails, the process's own
    // thread has just let go of the process in wait(): acquire, like [2], to pair with [1].
    if (found == word_of(stealing_state::running) &&
        word_.compare_exchange_strong(found, word_of(stealing_state::running) | woken,
                                      Orders::flags, Orders::takes))
      return false;
    if (found != word_of(stealing_state::ready))
      move(stealing_state::ready);  // a `ready` process is new: it has never run
    return true;
  }
  /// Wakes the process for a hand-over: the caller owns the process at once, and runs it.  O(1);
  /// while the process's own thread still has it, this waits, for a few instructions of that
  /// thread.
  template <class Relax>
  void take_over(Relax relax) noexcept {
    // [2] acquire: pairs with the release [1] in wait().
    while (word_.load(Orders::takes) == word_of(stealing_state::running)) relax();
    move(stealing_state::running);
  }

 private:
  static constexpr std::uint8_t woken = 8;

  static constexpr std::uint8_t word_of(stealing_state s) noexcept {
    return static_cast<std::uint8_t>(s);
  }

  std::atomic<std::uint8_t> word_ = word_of(stealing_state::ready);
};

/// The state with the memory orders that are right for it.
using stealing_state_word = basic_stealing_state<>;

}  // namespace detail
}  // namespace weft
