// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "weft/effects/detail/internal.hpp"
#include "weft/effects/operation.hpp"
#include "weft/sched/base/backend.hpp"
#include "weft/sched/base/detail/deferred_events.hpp"
#include "weft/sched/base/detail/injection_node.hpp"
#include "weft/sched/base/detail/location_listener.hpp"
#include "weft/sched/base/scheduled.hpp"
#include "weft/sched/sync/detail/timers.hpp"
#include "weft/sched/sync/detail/waiter.hpp"

namespace weft {

class external_event;

namespace detail {
class external_event_table;
class external_waiter;

/// The scheduler whose process waits for an external event, as the event sees it.
class external_home {
 public:
  /// Called when the event has been opened while the process of `w` waited (EXTERNAL-1): wakes the
  /// process.  If it throws, the process still waits, or is cancelled.
  virtual void on_open(external_waiter& w) = 0;
  /// Called by the destructor of an event for which a process waits: cancels the wait.
  virtual void on_end(external_event& e) noexcept = 0;
  /// Called by the destructor of a waiter whose event is still on the scheduler's list: returns
  /// when the event is off the list.
  virtual void on_end(external_waiter& w) noexcept = 0;

 protected:
  ~external_home() = default;
};

/// A process that waits for an external event.
class external_waiter {
 public:
  explicit external_waiter(external_event& e) noexcept : at(&e) {}
  external_waiter(external_waiter&& other) noexcept : at(other.at) {}  // before the process waits
  external_waiter& operator=(external_waiter&&) = delete;
  inline ~external_waiter();

  external_event* at;
  waiter parked;
  spare_node spare;  // memory to put the process, reserved before it waits

 private:
  friend class external_event_table;
  // Set while the event is on the list of its scheduler; written under the lock of the list.
  std::atomic<external_home*> home_ = nullptr;
};
}  // namespace detail

/// An event outside the scheduler, for which one process waits: it happens on another thread, in a
/// callback of the system, in another scheduler.  Use it directly for waits of your own, or use
/// completion<T>, which is built on it:
///
///     co_await completions::wait{arrived};  // a process
///     arrived.open();                       // any thread, once
///
/// It may be opened before or after the wait begins.  While a process waits here, its scheduler
/// sleeps when no process is ready, and reports no deadlock: the scheduler cannot know whether the
/// event will be opened, so a wait for one that is never opened lasts for ever.  If the event is
/// destroyed while a process waits, the process finds `cancelled`; A call of open() must have
/// returned before the event is destroyed, unless that call has woken the process.
///
///   EXTERNAL-1  One word holds the state: no process waits yet; a process waits, and the word is
///       the address of its waiter; or the event is open.  The change from a waiter to open, or
///       back to no waiter (if the process is cancelled, or its deadline has passed), is one
///       exchange: the thread that makes it takes the event off its list, and the process out of
///       the waiter.  If the process was woken by its alarm, that thread finds the waiter empty
///       (waiter.hpp, WAITER-1).
///   EXTERNAL-2  The word is set to the address of a waiter when all else is written: the
///       scheduler's records of the wait (wait_registry.hpp), and the process's frames.
///   EXTERNAL-3  The thread that has opened the event does not touch it after the process is put,
///       or after it has marked the event as off the list (AWAITED-4): the event may be destroyed
///       by then.
class external_event {
 public:
  constexpr external_event() noexcept { detail::note_created(this); }
  external_event(external_event const&) = delete;
  external_event& operator=(external_event const&) = delete;
  inline ~external_event();

  /// Wakes the waiter; a later wait returns at once.  A process that goes on sees what was done
  /// before the call.  Does nothing if the event is open.  Thread safe.  Allocates nothing.  If the
  /// backend is no reserving_backend, its put may throw: then open() throws that exception, and
  /// nothing has happened.
  inline void open();
  /// The same, but always at once: open() may defer it as an event (deferred_events.hpp).
  inline void open_now(detail::internal);

  /// Whether it is open.  A caller that gets true sees what was done before the call of open().
  /// Thread safe.
  [[nodiscard]] bool is_open() const noexcept {
    detail::apply_own_events_at(this);
    detail::note_access(this, false);
    return word_.load(std::memory_order_acquire) == opened;  // [1] acquire: pairs with [2]
  }

 private:
  friend class detail::external_event_table;
  static constexpr std::uintptr_t no_waiter = 0;
  static constexpr std::uintptr_t opened = 1;

  [[nodiscard]] static std::uintptr_t word_of(detail::external_waiter& w) noexcept {
    return reinterpret_cast<std::uintptr_t>(&w);
  }
  /// If no process waits and the event is not open: registers the waiter (EXTERNAL-2).  Returns the
  /// state that it found.
  [[nodiscard]] std::uintptr_t enter(detail::external_waiter& w) noexcept {
    std::uintptr_t found = no_waiter;
    // [3] release: a thread that takes the process out, at [2] or [4], sees all of the waiter.
    // acquire, if the event is open: pairs with [2].
    word_.compare_exchange_strong(found, word_of(w), std::memory_order_release,
                                  std::memory_order_acquire);
    return found;
  }
  /// The waiter, or null if no process waits any more.  The waiter lives as long as the caller
  /// holds the lock under which it would be taken off the list.
  [[nodiscard]] detail::external_waiter* current_waiter() const noexcept {
    std::uintptr_t const found = word_.load(std::memory_order_acquire);  // acquire: pairs with [3]
    return found == opened ? nullptr : reinterpret_cast<detail::external_waiter*>(found);
  }
  /// Removes the waiter (EXTERNAL-1) and returns it; null if there is none, or the event is open.
  [[nodiscard]] detail::external_waiter* withdraw() noexcept {
    std::uintptr_t found = word_.load(std::memory_order_relaxed);  // relaxed: [4] checks it
    if (found == no_waiter || found == opened) return nullptr;
    // [4] acquire: pairs with [3], so the caller sees all of the waiter.
    if (!word_.compare_exchange_strong(found, no_waiter, std::memory_order_acquire,
                                       std::memory_order_relaxed))
      return nullptr;
    return reinterpret_cast<detail::external_waiter*>(found);
  }
  /// Removes that waiter.  False if the event has just been opened.
  [[nodiscard]] bool withdraw(detail::external_waiter& w) noexcept {
    std::uintptr_t found = word_of(w);
    // relaxed: the calling thread wrote the waiter, or holds the lock under which it was written.
    return word_.compare_exchange_strong(found, no_waiter, std::memory_order_relaxed);
  }

  std::atomic<std::uintptr_t> word_ = no_waiter;        // the state (EXTERNAL-1)
  std::atomic<detail::external_home*> home_ = nullptr;  // set while a process waits (EXTERNAL-2)
  external_event* next_ = nullptr;                      // in the list of events with waiters
  external_event* previous_ = nullptr;
};

/// Waits for external events.
struct completions {
  static constexpr bool performed_by_processes = true;  // only a process performs it (tasking.hpp)
  /// Waits until the event is open.  Seals, since an external event happens only once.
  struct [[nodiscard("weft: co_await it")]] wait : op<void, seals> {
    static constexpr detail::scheduling_rule scheduling = detail::scheduled_as_wait;
    [[nodiscard("weft: co_await it")]] explicit wait(external_event& g) noexcept : here(g) {}
    detail::external_waiter here;
    friend std::size_t hash_value(wait const&) { return 0; }  // 0: addresses differ from run to run
  };
  /// As wait, until `t` at the latest.  `co_await` yields false if the event is not open by then;
  /// the event can then be waited for again.  O(log n) in the waiters with a deadline.
  struct [[nodiscard("weft: co_await it")]] wait_until : op<bool, seals> {
    static constexpr detail::scheduling_rule scheduling = detail::scheduled_as_wait;
    [[nodiscard("weft: co_await it")]] wait_until(external_event& g, instant t) noexcept
        : here(g), until(t, here.parked) {}
    wait_until(wait_until&& other) noexcept
        : here(static_cast<detail::external_waiter&&>(other.here)),
          until(other.until.at(), here.parked) {}
    detail::external_waiter here;
    detail::alarm until;
    friend std::size_t hash_value(wait_until const&) { return 0; }
  };
  using operations = op_list<wait, wait_until>;
};

// ---- how an event and its waiter end, and how an event is opened

external_event::~external_event() {
  detail::apply_events_at(this);
  // [6] acquire: pairs with [5] of external_event_table.hpp.  If this reads null, the table has
  // done its last access to the event.
  if (auto* const home = home_.load(std::memory_order_acquire)) {
    detail::note_access(this, true);
    home->on_end(*this);
  }
  detail::note_destroyed(this);
}
detail::external_waiter::~external_waiter() {
  parked.leave_group();
  // [12] acquire: pairs with [11] of external_event_table.hpp.  If this reads null, the table has
  // done its last access to the waiter.
  if (auto* const home = home_.load(std::memory_order_acquire)) home->on_end(*this);
}
void external_event::open() {
  if (!detail::event_deferrer::of_thread) [[likely]]
    return open_now(detail::internal());
  detail::cause_event("the opening of an external event", this,
                      [this] { open_now(detail::internal()); });
}
void external_event::open_now(detail::internal) {
  detail::note_access(this, true);
  // [2] release: a process that goes on, or finds the event open [1], sees what was done before.
  // acquire: pairs with [3], so this thread sees all of the waiter.
  std::uintptr_t const found = word_.exchange(opened, std::memory_order_acq_rel);
  if (found == no_waiter || found == opened) return;
  // relaxed: `home_` was written before the address of the waiter, which [2] has read.
  home_.load(std::memory_order_relaxed)
      ->on_open(*reinterpret_cast<detail::external_waiter*>(found));
}

}  // namespace weft
