// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "weft/effects/detail/internal.hpp"
#include "weft/effects/operation.hpp"
#include "weft/sched/base/backend.hpp"
#include "weft/sched/base/detail/deferred_events.hpp"
#include "weft/sched/base/detail/location_listener.hpp"
#include "weft/sched/base/scheduled.hpp"
#include "weft/sched/sync/detail/timers.hpp"
#include "weft/sched/sync/detail/wait_place.hpp"

namespace weft {

/// An event outside the scheduler, for which one process waits: it happens on another thread, in a
/// callback of the system, in another scheduler.  Use it directly for waits of your own, or use
/// completion<T>, which is built on it:
///
///     co_await completions::wait{arrived};  // a process
///     arrived.open();                       // any thread, once
///
/// The event may be opened before or after the wait begins.  While a process waits here, its
/// scheduler sleeps when no process is ready, and reports no deadlock: the scheduler cannot know
/// whether the event will be opened, so a wait for an event that is never opened lasts for ever.
/// If the event is destroyed while a process waits, the process finds `cancelled`.  A call of
/// open() must have returned before the event is destroyed, unless that call has woken the process.
///
///   EXTERNAL-1  One word holds the state: no process waits yet; a process waits, and the word
///       names its room; or the event is open.  The change from a room to open, or back to no
///       process (if the process is cancelled, or its deadline has passed), is one exchange: the
///       thread that makes it takes the waiter off (wait_room.hpp, ROOM-4).  If the process was
///       woken by its alarm, that thread finds the waiter empty (waiter.hpp, WAITER-1).
class external_event : public detail::wait_place {
 public:
  constexpr external_event() noexcept { detail::note_created(this); }
  external_event(external_event const&) = delete;
  external_event& operator=(external_event const&) = delete;
  ~external_event() {
    detail::apply_events_at(this);
    end();
    detail::note_destroyed(this);
  }

  /// Opens the event: wakes the process that waits; a later wait returns at once.  A process that
  /// goes on sees what was done before the call.  Does nothing if the event is open.  Thread safe.
  /// Allocates nothing.  If the backend does not reserve memory for its puts (reserving_backend), a
  /// put may throw: then open() throws that exception, and the process still waits, or is
  /// cancelled.
  void open() {
    if (!detail::event_deferrer::of_thread) [[likely]]
      return open_now(detail::internal());
    detail::cause_event("the opening of an external event", this,
                        [this] { open_now(detail::internal()); });
  }
  /// Opens the event at once; open() may defer that (deferred_events.hpp).
  void open_now(detail::internal);

  /// Whether the event is open.  A caller that gets true sees what was done before the call of
  /// open().  Thread safe.
  [[nodiscard]] bool is_open() const noexcept {
    detail::apply_own_events_at(this);
    detail::note_access(this, false);
    // [10] acquire: pairs with [6] of external_event.cpp.
    return word_.load(std::memory_order_acquire) == opened;
  }
};

/// The effect of waiting for external events.
struct completions {
  static constexpr bool performed_by_processes = true;  // a task with this effect is not light
  /// Waits until the event is open.  Seals, since an external event happens only once.
  struct [[nodiscard("weft: co_await it")]] wait : op<void, seals> {
    static constexpr detail::scheduling_rule scheduling = detail::scheduled_as_wait;
    [[nodiscard("weft: co_await it")]] explicit wait(external_event& g) noexcept : here(&g) {}
    detail::room_waiter here;
    friend std::size_t hash_value(wait const&) { return 0; }  // 0: addresses differ from run to run
  };
  /// Waits until the event is open, but until `t` at the latest.  `co_await` yields false if the
  /// event is not open by then; it can then be waited for again.  O(log n) in the waiters with a
  /// deadline.
  struct [[nodiscard("weft: co_await it")]] wait_until : op<bool, seals> {
    static constexpr detail::scheduling_rule scheduling = detail::scheduled_as_wait;
    [[nodiscard("weft: co_await it")]] wait_until(external_event& g, instant t) noexcept
        : here(&g, {.is_timed = true}), until(t, here.parked) {}
    wait_until(wait_until&& other) noexcept
        : here(static_cast<detail::room_waiter&&>(other.here)),
          until(other.until.at(), here.parked) {}
    detail::room_waiter here;
    detail::alarm until;
    friend std::size_t hash_value(wait_until const&) { return 0; }
  };
  using operations = op_list<wait, wait_until>;
};

}  // namespace weft
