// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <source_location>

#include "weft/effects/eff.hpp"
#include "weft/sched/sync/gate.hpp"

namespace weft {

/// A meeting point of n processes: each waits until all n have arrived; then the next round begins.
///
///     barrier meet(3);
///     for (int round = 0; round != 10; ++round) {
///       ...
///       co_await meet.arrive_and_wait();
///     }
///
/// A process that goes on sees everything that the others did before they arrived.  Waiting
/// suspends the process, not its thread.  A process that has arrived counts even if it is unwound
/// while it waits: the others do not wait for it in this round; but the next round again needs n
/// arrivals.  A process that has arrived can no longer fork.
///
/// The barrier may be destroyed as soon as one process goes on, even if others have not gone on
/// yet.  If it is destroyed in the middle of a round, the waiting processes find `cancelled`.
/// While a process waits, only processes of the same scheduler may use the barrier.  One
/// allocation; each arrival takes a frame from the pool.
class barrier {
 public:
  /// Throws std::invalid_argument if n is 0; bad_alloc.
  explicit barrier(std::uint32_t n);
  barrier(barrier const&) = delete;
  barrier& operator=(barrier const&) = delete;
  ~barrier();

  /// Arrives, and waits for the others.  O(1); O(n) for the last process that arrives, which goes
  /// on without a yield.  Throws `cancelled` if the barrier is destroyed.
  eff<void, syncing> arrive_and_wait(std::source_location where = std::source_location::current()) {
    return arrives(state_, where);
  }

 private:
  struct shared_state;
  static eff<void, syncing> arrives(std::shared_ptr<shared_state> s, std::source_location where);

  std::shared_ptr<shared_state> state_;
};

}  // namespace weft
