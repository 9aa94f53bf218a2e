// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cassert>
#include <cstdint>

#include "weft/sched/base/detail/relax.hpp"

namespace weft::detail {

/// The state of a process, as other threads must know it.
enum class sharing_state : std::uint8_t {
  sleeping,  ///< The process waits; the thread that has what it waits for may wake it.
  queued,    ///< The process is ready, and in a queue.
  running,   ///< A thread runs the process.
  yielding   ///< The process enters the lists of waiters; then it sleeps, or need not wait.
};

/// The legal moves, from the state on the left to the state above, each with its reason; on the
/// right the threads that make them:
///
///               sleeping  queued  running  yielding
///     sleeping            woken   handed             any thread, by wake()
///     queued                      taken              the claimer of its queue
///     running             yields           waits     its own thread
///     yielding  nothing   came    came               its own thread
///               came
///
/// `came`: the event for which the process would wait has happened; `nothing came`: it has not.
/// `handed`: the sender hands the thread over to the receiver, without a queue in between.
constexpr bool is_legal_move(sharing_state from, sharing_state to) noexcept {
  constexpr bool table[4][4] = {
      {false, true, true, false},   // sleeping
      {false, false, true, false},  // queued
      {false, true, false, true},   // running
      {true, true, true, false},    // yielding
  };
  return table[static_cast<unsigned>(from)][static_cast<unsigned>(to)];
}

/// The memory orders at the labels [1] and [2]: a parameter, so that tests can weaken them.
struct sharing_state_orders {
  static constexpr auto sleeps = std::memory_order_release;  // [1]
  static constexpr auto wakes = std::memory_order_acquire;   // [2]
};
/// The state of a process as a word.  Before a process sleeps, it enters the lists where wakers can
/// find it.  Until it sleeps its state is `yielding`, and a waker waits until that state ends.  So
/// no thread runs the process before its own thread has let go of it.  Source: ChangeState of
/// docs/appendix_pseudo_code_read_twice.md, with its two conditions corrected (docs/models,
/// DEFECT-1).
///
/// Thread safe: wake() is for any thread, and STATE-1 says which thread calls move().
///
///   STATE-1  A process is moved out of `running` and `yielding` by its own thread only, and out of
///       `queued` only by the thread that has claimed its queue.  So these moves are plain stores.
///   STATE-2  Any thread may move a process out of `sleeping`, by an exchange, in which one thread
///       succeeds.
template <class Orders = sharing_state_orders>
class basic_sharing_state {
 public:
  explicit constexpr basic_sharing_state(sharing_state s) noexcept : state_(s) {}

  /// The state.
  [[nodiscard]] sharing_state now() const noexcept {
    // relaxed: the caller owns the process, and so sees the last move; or the state is only a hint.
    return state_.load(std::memory_order_relaxed);
  }
  /// Moves the process to another state.  Called by the thread that owns the process (STATE-1).
  /// After a move to `sleeping` any thread may take the process.
  void move(sharing_state to) noexcept {
    assert(is_legal_move(now(), to));
    state_.store(to, Orders::sleeps);  // [1] release: pairs with the acquire [2] in wake()
  }
  /// Wakes the process: moves it to `to`, which is `queued` or `running`.  False if the process
  /// does not sleep.  O(1); while the process is about to sleep, wake() waits, for a few
  /// instructions of the process's thread.
  [[nodiscard]] bool wake(sharing_state to) noexcept {
    for (relax wait;; wait()) {
      // Relaxed: the exchange [2] checks `sleeping` again; any other state but `yielding` means
      // that the process is the caller's own, or new, and the caller has written the state.
      sharing_state s = state_.load(std::memory_order_relaxed);
      if (s == sharing_state::yielding) continue;
      if (s != sharing_state::sleeping) return false;
      // [2] acquire: pairs with the release [1] in move(); the waker sees what the process wrote.
      if (state_.compare_exchange_strong(s, to, Orders::wakes, std::memory_order_relaxed))
        return true;
    }
  }

 private:
  std::atomic<sharing_state> state_;
};

/// The state with the memory orders that are right for it.
using sharing_state_word = basic_sharing_state<>;

}  // namespace weft::detail
