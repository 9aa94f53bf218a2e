// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "effects/operation.hpp"
#include "sched/base/backend.hpp"
#include "sched/base/detail/deferred_events.hpp"
#include "sched/base/detail/injection_node.hpp"
#include "sched/base/detail/location_listener.hpp"
#include "sched/base/scheduled.hpp"
#include "sched/sync/detail/timers.hpp"
#include "sched/sync/detail/waiter.hpp"

namespace weft {

class external_event;

namespace detail {
class external_event_table;
class external_waiter;

/// The scheduler whose process waits for an external event, as the event sees it.
class external_home {
 public:
  /// The event has been opened while that process waited (EXTERNAL-1).  If it throws, the process
  /// still waits.
  virtual void on_open(external_waiter& w) = 0;
  /// The event ends while a process waits for it.
  virtual void on_end(external_event& e) noexcept = 0;
  /// The operation of a waiter ends while its event is still on the scheduler's list.
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
  spare_node spare;  // memory to put the process with, made before it waits

 private:
  friend class external_event_table;
  std::atomic<external_home*> home_ = nullptr;  // while the event is on its list; under its lock
};
}  // namespace detail

/// Where one process waits for something that happens outside its scheduler: on another thread, in
/// a callback of the system, in another scheduler.  The thing behind completion<T>, and for waits
/// of one's own:
///
///     co_await completions::wait{arrived};   // a process
///     arrived.open();                       // anyone, once
///
/// Opened before or after the wait.  While a process waits here its scheduler sleeps when nobody
/// else is ready, and reports no deadlock.  Whether somebody will open it only its users know: one
/// that nobody opens is waited at for ever.  If it ends while a process waits, that finds
/// `cancelled`; open() must be over by then, unless it has woken that process.
///
///   EXTERNAL-1  One word says all: nobody waits yet; a process does, and that is its waiter; it is open.
///       From a waiter to open, or to nobody (cancelled, or too late), is one exchange: who makes
///       it takes the gate off its list, and the process out of the waiter.  If that has been woken
///       by its alarm he finds nobody there (waiter.hpp, WAITER-1).
///   EXTERNAL-2  A waiter is written there last, when everything else is: what is said of it in its
///       scheduler (wait_registry.hpp), and its frames.
///   EXTERNAL-3  Who has opened it touches it no more once the process is put, or is told that it is off
///       the list (WAIT-5): it may be gone then.
class external_event {
 public:
  constexpr external_event() noexcept { detail::note_created(this); }
  external_event(external_event const&) = delete;
  external_event& operator=(external_event const&) = delete;
  inline ~external_event();

  /// Who waits goes on; who comes later need not wait.  Thread safe.  What was done before is seen
  /// by who goes on.  Does nothing if it is open.  Allocates nothing; on a backend of one's own
  /// whose put from outside throws, it throws that, and then nothing has happened.
  inline void open();
  /// For the library: the same as part of what else is done there (deferred_events.hpp).
  inline void open_now();

  [[nodiscard]] bool is_open() const noexcept {
    detail::apply_own_events_at(this);
    detail::note_access(this, false);
    return word_.load(std::memory_order_acquire) == opened;  // [1] acquire: with [2]
  }

 private:
  friend class detail::external_event_table;
  static constexpr std::uintptr_t nobody = 0;
  static constexpr std::uintptr_t opened = 1;

  [[nodiscard]] static std::uintptr_t word_of(detail::external_waiter& w) noexcept {
    return reinterpret_cast<std::uintptr_t>(&w);
  }
  /// Nobody waits and it is not open: somebody does now (EXTERNAL-2).  Else says what there is.
  [[nodiscard]] std::uintptr_t enter(detail::external_waiter& w) noexcept {
    std::uintptr_t found = nobody;
    // [3] release: who takes the process out [2] [4] finds all of it.  acquire, if that fails:
    // with [2].
    word_.compare_exchange_strong(found, word_of(w), std::memory_order_release,
                                  std::memory_order_acquire);
    return found;
  }
  /// Who waits, null if nobody does any more.  He is there as long as the lock is held under which
  /// he would be taken off.
  [[nodiscard]] detail::external_waiter const* current_waiter() const noexcept {
    std::uintptr_t const found = word_.load(std::memory_order_acquire);  // acquire: with [3]
    return found == opened ? nullptr : reinterpret_cast<detail::external_waiter const*>(found);
  }
  /// Whoever waits does not any more (EXTERNAL-1): null if nobody does.
  [[nodiscard]] detail::external_waiter* withdraw() noexcept {
    std::uintptr_t found = word_.load(std::memory_order_relaxed);  // relaxed: [4] makes sure
    if (found == nobody || found == opened) return nullptr;
    // [4] acquire: with [3].
    if (!word_.compare_exchange_strong(found, nobody, std::memory_order_acquire,
                                       std::memory_order_relaxed))
      return nullptr;
    return reinterpret_cast<detail::external_waiter*>(found);
  }
  /// That one waits no more.  False if somebody has just opened it.
  [[nodiscard]] bool withdraw(detail::external_waiter& w) noexcept {
    std::uintptr_t found = word_of(w);
    // Relaxed: it is ours, we have all of it.
    return word_.compare_exchange_strong(found, nobody, std::memory_order_relaxed);
  }

  std::atomic<std::uintptr_t> word_ = nobody;           // EXTERNAL-1
  std::atomic<detail::external_home*> home_ = nullptr;  // EXTERNAL-2; while a process waits
  external_event* next_ = nullptr;                      // of those at which somebody waits
  external_event* previous_ = nullptr;
};

/// Waiting for what comes from outside.
struct completions {
  static constexpr bool is_of_processes = true;  // who performs it is one (tasking.hpp)
  /// Until it is open.  Seals: what comes from there comes once.
  struct wait : op<void, seals> {
    static constexpr detail::scheduling_rule scheduling = detail::scheduled_as_wait;
    explicit wait(external_event& g) noexcept : here(g) {}
    detail::external_waiter here;
    friend std::size_t hash_value(wait const&) { return 0; }  // addresses differ from run to run
  };
  /// The same, until then at the latest: false if it is not open by then, and then one may wait
  /// there again.  O(log n), of n who wait with a deadline.
  struct wait_until : op<bool, seals> {
    static constexpr detail::scheduling_rule scheduling = detail::scheduled_as_wait;
    wait_until(external_event& g, instant t) noexcept : here(g), until(t, here.parked) {}
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
  // [6] acquire: with [5] of external_event_table.hpp.
  if (auto* const home = home_.load(std::memory_order_acquire)) {
    detail::note_access(this, true);
    home->on_end(*this);
  }
  detail::note_destroyed(this);
}
detail::external_waiter::~external_waiter() {
  // [12] acquire: with [11] of external_event_table.hpp.
  if (auto* const home = home_.load(std::memory_order_acquire)) home->on_end(*this);
}
void external_event::open() {
  if (!detail::event_deferrer::of_thread) [[likely]]
    return open_now();
  detail::cause_event("the opening of a gate", this, [this] { open_now(); });
}
void external_event::open_now() {
  detail::note_access(this, true);
  // [2] release: a process that goes on, or finds the event open [1], sees what was done before.
  // acquire: with [3].
  std::uintptr_t const found = word_.exchange(opened, std::memory_order_acq_rel);
  if (found == nobody || found == opened) return;
  // Relaxed: written before the waiter was.
  home_.load(std::memory_order_relaxed)
      ->on_open(*reinterpret_cast<detail::external_waiter*>(found));
}

}  // namespace weft
