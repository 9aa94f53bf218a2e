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
#include "sched/sync/detail/timers.hpp"
#include "sched/sync/detail/waiter.hpp"

namespace weft {

class external_event;

namespace detail {
class gate_table;
class waiting_room;

/// A process that waits at an outside gate.
class external_waiter {
 public:
  explicit external_waiter(external_event& g) noexcept : at(&g) {}
  external_waiter(external_waiter&& other) noexcept : at(other.at) {}  // before anybody waits
  external_waiter& operator=(external_waiter&&) = delete;
  inline ~external_waiter();

  external_event* at;
  waiter who;
  spare_node spare;  // with which it is put: made before it waits

 private:
  friend class gate_table;
  friend class waiting_room;
  std::atomic<waiting_room*> home_ = nullptr;  // while the gate is on its list; under its lock
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
  friend class detail::gate_table;
  friend class detail::waiting_room;
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
  [[nodiscard]] detail::external_waiter const* who_waits() const noexcept {
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

  std::atomic<std::uintptr_t> word_ = nobody;          // EXTERNAL-1
  std::atomic<detail::waiting_room*> home_ = nullptr;  // EXTERNAL-2; while somebody waits
  external_event* next_ = nullptr;                     // of those at which somebody waits
  external_event* previous_ = nullptr;
};

/// Waiting for what comes from outside.
struct completions {
  static constexpr bool is_of_processes = true;  // who performs it is one (tasking.hpp)
  /// Until it is open.  Seals: what comes from there comes once.
  struct wait : op<void, seals> {
    explicit wait(external_event& g) noexcept : here(g) {}
    detail::external_waiter here;
    friend std::size_t hash_value(wait const&) { return 0; }  // addresses differ from run to run
  };
  /// The same, until then at the latest: false if it is not open by then, and then one may wait
  /// there again.  O(log n), of n who wait with a deadline.
  struct wait_until : op<bool, seals> {
    wait_until(external_event& g, instant t) noexcept : here(g), until(t, here.who) {}
    wait_until(wait_until&& other) noexcept
        : here(static_cast<detail::external_waiter&&>(other.here)),
          until(other.until.at(), here.who) {}
    detail::external_waiter here;
    detail::alarm until;
    friend std::size_t hash_value(wait_until const&) { return 0; }
  };
  using operations = op_list<wait, wait_until>;
};

}  // namespace weft

#include "sched/sync/detail/wait_registry.hpp"  // how they end
