// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>

#include "effects/operation.hpp"
#include "sched/thunk.hpp"

namespace weft {

namespace detail {
class waiting_room;
}  // namespace detail

/// What processes wait at: the thing behind locks, messages and timers, and for those of one's own.
///
///     if (empty) co_await syncing::wait{at};
///     ...
///     co_await syncing::wake{at};
///
/// Where processes run on several threads, somebody may wake between the look and the wait.  So
/// there one asks the gate first, and waits unless it has been woken since:
///
///     for (auto seen = at.epoch(); empty; seen = at.epoch()) co_await syncing::wait{at, seen};
///
/// A list of processes, the longest waiting first; it knows no condition.  It belongs to one
/// scheduler while somebody waits.  When it ends, those who wait there find `cancelled`.  What
/// other threads than a scheduler's wake is an outside_gate.
class gate {
 public:
  gate() = default;
  gate(gate const&) = delete;
  gate& operator=(gate const&) = delete;
  inline ~gate();

  /// How many wait.
  [[nodiscard]] std::size_t waiting() const noexcept {
    return count_.load(std::memory_order_relaxed);  // relaxed: a hint if there are other threads
  }
  /// How often it was woken.  What was done before that is seen by who finds the number greater.
  [[nodiscard]] std::uint64_t epoch() const noexcept {
    return epoch_.load(std::memory_order_acquire);  // [1] acquire: with the release of a wake
  }

 private:
  friend class detail::waiting_room;

  std::deque<thunk> waiting_;
  std::atomic<std::size_t> count_ = 0;
  std::atomic<std::uint64_t> epoch_ = 0;
  std::atomic<detail::waiting_room*> home_ = nullptr;  // while somebody waits
  gate* next_ = nullptr;                               // of the gates at which somebody waits
  gate* previous_ = nullptr;
};

/// Waiting for one another.
struct syncing {
  /// Until somebody wakes us at that gate.  With the `epoch` that it had: unless somebody has since
  /// then, which lets the others go first.
  struct wait : op<void> {
    explicit wait(gate& g) noexcept : at(&g) {}
    wait(gate& g, std::uint64_t epoch) noexcept : at(&g), seen(epoch) {}
    gate* at;
    std::optional<std::uint64_t> seen;
    friend std::size_t hash_value(wait const&) { return 0; }  // addresses differ from run to run
  };
  /// Those who wait longest go on in their turn, `most` of them.
  struct wake : op<void> {
    explicit wake(gate& g, std::size_t n = 1) noexcept : at(&g), most(n) {}
    gate* at;
    std::size_t most;
    friend std::size_t hash_value(wake const&) { return 0; }
  };
  using operations = op_list<wait, wake>;
};

}  // namespace weft
