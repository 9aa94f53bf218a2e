// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <source_location>

#include "weft/effects/eff.hpp"
#include "weft/sched/base/backend.hpp"
#include "weft/sched/sync/gate.hpp"

namespace weft {
namespace detail {
class permits;
}

/// A number of permits, which processes take and give back, or produce and use up.
///
///     semaphore seats(3);
///     co_await seats.acquire();
///     ...
///     seats.release();
///
/// Waiting for a permit suspends the process, not its thread.  A semaphore is as fair as a mutex.
/// The end of a process does not give its permits back: for an object that is held for a while, and
/// must be given back when its holder is unwound, use a mutex.
///
/// A process that has tried to take a permit can no longer fork.  release() is not an operation, so
/// a process that is run again after a fork calls it again.
///
/// The semaphore may be destroyed when its last user has the permit that it waited for, even if
/// another process is still inside the release() of that permit.  If it is destroyed while
/// processes wait, they find `cancelled`.  While a process waits, only processes of the same
/// scheduler may use the semaphore.  One allocation; each acquire takes a frame from the pool, and
/// one more if the process waits.  O(1); but release(n) with n > 1 is linear in the number of
/// waiters.
class semaphore {
 public:
  /// Makes a semaphore with n permits.  Throws bad_alloc.
  explicit semaphore(std::size_t n);
  semaphore(semaphore const&) = delete;
  semaphore& operator=(semaphore const&) = delete;
  ~semaphore();

  /// Waits for a permit and takes it.  Throws `cancelled` if the semaphore is destroyed.
  eff<void, syncing> acquire(std::source_location where = std::source_location::current()) {
    return acquires(state_, where);
  }
  /// Takes a permit if there is one, and newcomers need not wait in line (mutex.hpp); else
  /// `co_await` yields false.  Does not yield to other processes.
  eff<bool, syncing> try_acquire(std::source_location where = std::source_location::current()) {
    return tries(state_, std::nullopt, where);
  }
  /// Waits for a permit until `t` at the latest, and takes it; `co_await` yields false if there was
  /// none.  O(log n) in the waiters with a deadline.
  eff<bool, syncing> try_acquire_until(
      instant t, std::source_location where = std::source_location::current()) {
    return tries(state_, t, where);
  }
  /// Adds n permits.  Called by processes of one scheduler, also while a process is unwound.
  void release(std::size_t n = 1) noexcept;

 private:
  using state = std::shared_ptr<detail::permits>;
  static eff<void, syncing> acquires(state s, std::source_location where);
  static eff<bool, syncing> tries(state s, std::optional<instant> until,
                                  std::source_location where);

  state state_;
};

}  // namespace weft
