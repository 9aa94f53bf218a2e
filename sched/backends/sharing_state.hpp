// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cassert>
#include <cstdint>

#include "sched/base/detail/relax.hpp"

namespace weft {

/// What a process does, as those on other threads must know it (seed 000).
enum class sharing_state : std::uint8_t {
  sleeping,  ///< It waits, and whoever has what it waits for may wake it.
  queued,    ///< It is ready, and stands in a queue.
  running,   ///< A thread has it.
  yielding   ///< It is about to sleep: it says where it can be found, and looks a last time.
};

/// The moves there are: a table, from above to the right.
///
///               sleeping  queued  running  yielding
///     sleeping            woken   handed             anyone, by wake()
///     queued                      taken              who has claimed the queue it stands in
///     running             yields           waits     its thread
///     yielding  nothing   came    came               its thread
///               came
constexpr bool is_legal_move(sharing_state from, sharing_state to) noexcept {
  constexpr bool table[4][4] = {
      {false, true, true, false},   // sleeping
      {false, false, true, false},  // queued
      {false, true, false, true},   // running
      {true, true, true, false},    // yielding
  };
  return table[static_cast<unsigned>(from)][static_cast<unsigned>(to)];
}

/// The memory orders of the labels.
struct sharing_state_orders {
  static constexpr auto sleeps = std::memory_order_release;  // [1]
  static constexpr auto wakes = std::memory_order_acquire;   // [2]
};
/// Why a process that says where it can be found cannot be run before it has gone to sleep: its
/// state is `yielding` until then, and who would wake it waits for that (seed 000's ChangeState,
/// with its two conditions put right: docs/models, DEFECT-1).
///
///   STATE-1  Out of `running` and `yielding` only its own thread moves it; out of `queued` only who
///       has claimed the queue that it stands in.  So these moves are plain stores.
///   STATE-2  Out of `sleeping` anyone may move it: one of them does.
template <class Orders = sharing_state_orders>
class basic_sharing_state {
 public:
  explicit constexpr basic_sharing_state(sharing_state s) noexcept : state_(s) {}

  [[nodiscard]] sharing_state now() const noexcept {
    return state_.load(std::memory_order_relaxed);  // relaxed: for reports, and of one's own
  }
  /// A move of who has it (STATE-1).  After `sleeping` it is anyone's.
  void move(sharing_state to) noexcept {
    assert(is_legal_move(now(), to));
    state_.store(to, Orders::sleeps);  // [1] release: who wakes it [2] has all that it wrote
  }
  /// Wakes it, to be queued or to be run at once.  False if it does not sleep.  Waits while it is
  /// about to: a few instructions of its thread.
  [[nodiscard]] bool wake(sharing_state to) noexcept {
    for (detail::relax wait;; wait()) {
      sharing_state s = state_.load(std::memory_order_relaxed);  // relaxed: [2] makes sure
      if (s == sharing_state::yielding) continue;
      if (s != sharing_state::sleeping) return false;
      // [2] acquire: with the release of [1].
      if (state_.compare_exchange_strong(s, to, Orders::wakes, std::memory_order_relaxed))
        return true;
    }
  }

 private:
  std::atomic<sharing_state> state_;
};

using sharing_state_word = basic_sharing_state<>;

}  // namespace weft
