// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <source_location>

#include "effects/eff.hpp"
#include "sched/base/backend.hpp"
#include "sched/base/detail/deferred_events.hpp"
#include "sched/sync/detail/permits.hpp"
#include "sched/sync/gate.hpp"

namespace weft {

/// A number of things that processes take and give back, or make and use up.
///
///     semaphore seats(3);
///     co_await seats.acquire();
///     ...
///     seats.release();
///
/// Who waits for one suspends its process, not its thread.  Not fair: as a mutex.  Nobody gives
/// back for who has ended: for what is held for a while, and given back when its holder is unwound,
/// a mutex is better.
///
/// Who has tried to take one cannot fork any more.  To release is no operation: a process that is
/// run again after a fork does it again.
///
/// It may end when its last user has what it waited for, though another is still about to release
/// that.  If it ends while processes wait they find `cancelled`.  It belongs to one scheduler while
/// somebody waits.  One allocation; O(1), and for release O(those who wait) if n > 1.
class semaphore {
 public:
  /// There are n.  Throws bad_alloc.
  explicit semaphore(std::size_t n)
      : state_(std::make_shared<detail::permits>(n, detail::permits::kind::semaphore)) {}
  semaphore(semaphore const&) = delete;
  semaphore& operator=(semaphore const&) = delete;
  ~semaphore() {
    detail::cause_event("the end of a semaphore", nullptr, [s = std::move(state_)] { s->close(); });
  }

  /// Takes one, when there is one.  Throws `cancelled` if the semaphore ends.
  eff<void, syncing> acquire(std::source_location where = std::source_location::current()) {
    return acquires(state_, where);
  }
  /// False if there is none.  Lets nobody go first.
  eff<bool, syncing> try_acquire(std::source_location where = std::source_location::current()) {
    return tries(state_, std::nullopt, where);
  }
  /// False if there is none by then.  O(log n), of n who wait with a deadline.
  eff<bool, syncing> try_acquire_until(
      instant t, std::source_location where = std::source_location::current()) {
    return tries(state_, t, where);
  }
  /// There are n more.  By processes of one scheduler, also where one is unwound.
  void release(std::size_t n = 1) noexcept {
    if (n == 0) return;
    // Kept: who takes it may end us.
    detail::cause_event("the release of a permit", nullptr, [s = state_, n] { s->give_back(n); });
  }

 private:
  using state = std::shared_ptr<detail::permits>;
  static eff<void, syncing> acquires(state s, std::source_location where) {
    co_await detail::located(syncing::touch(s->location(), false), where);
    co_await detail::located(syncing::own(), where);
    if (!s->try_take()) co_await detail::permits::take(s, where);
  }
  static eff<bool, syncing> tries(state s, std::optional<instant> until,
                                  std::source_location where) {
    co_await detail::located(syncing::touch(s->location(), false), where);
    co_await detail::located(syncing::own(), where);
    bool has_one = s->try_take();
    if (!has_one && until) has_one = co_await detail::permits::take_until(s, *until, where);
    co_return has_one;
  }

  state state_;
};

}  // namespace weft
