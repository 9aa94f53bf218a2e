// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <source_location>
#include <string>

#include "effects/operation.hpp"
#include "sched/base/backend.hpp"
#include "sched/base/detail/deferred_events.hpp"
#include "sched/base/detail/location_listener.hpp"
#include "sched/base/errors.hpp"
#include "sched/base/process_id.hpp"
#include "sched/base/scheduled.hpp"
#include "sched/sync/detail/timers.hpp"
#include "sched/sync/detail/waiter.hpp"

namespace weft {

class gate;

namespace detail {
class gate_table;
class gate_waiter;

/// The scheduler whose processes wait at a gate, as the gate sees it.
class gate_home {
 public:
  /// Wakes the longest waiting process, or all of them: what they wait for is available.
  virtual void on_release(gate& g, bool to_all) noexcept = 0;
  /// The gate ends while processes wait at it.
  virtual void on_end(gate& g) noexcept = 0;
  /// The operation of a waiter ends while the waiter is still on the list of its gate.
  virtual void on_end(gate_waiter& w) noexcept = 0;

 protected:
  ~gate_home() = default;
};

/// The process that holds what others wait for, and since where: for reports.
struct holding {
  process_id process;
  std::source_location since;
};

/// The object that a gate is part of.  It says in a report what the gate's waiters wait for; it is
/// asked when no process runs.
class gate_owner {
 public:
  /// `waiting`: the number of processes that wait at the gate, that one included.
  virtual void describe(deadlock::waiter& w, std::size_t waiting) const = 0;

 protected:
  gate_owner() = default;
  gate_owner(gate_owner const&) = default;
  gate_owner& operator=(gate_owner const&) = default;
  ~gate_owner() = default;
};
/// "1 process waits", "2 processes wait"
inline std::string text_of_waiters(std::size_t n) {
  return std::to_string(n) + (n == 1 ? " process waits" : " processes wait");
}

/// Tag of a wait whose gate is only ever released, never woken by syncing::wake.
struct for_release {};

/// A process that waits at a gate.
class gate_waiter {
 public:
  gate_waiter(gate& g, bool in_line, bool timed) noexcept
      : at(&g), is_in_line(in_line), is_timed(timed) {}
  gate_waiter(gate_waiter&& other) noexcept  // before anybody waits
      : gate_waiter(*other.at, other.is_in_line, other.is_timed) {}
  gate_waiter& operator=(gate_waiter&&) = delete;
  inline ~gate_waiter();

  gate* at;
  bool const is_in_line;  // the order of arrival matters
  bool const is_timed;    // it may leave by itself
  waiter parked;

 private:
  friend class gate_table;
  std::atomic<gate_home*> home_ = nullptr;  // while it is on the gate's list; under its lock
  gate_waiter* next_ = nullptr;
  gate_waiter* previous_ = nullptr;
};
}  // namespace detail

/// What processes wait at: the thing behind locks and conditions, and for waits of one's own.
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
/// other threads than a scheduler's wake is an external_event.
///
/// O(1), each of its operations, and each process woken.  Allocates nothing.
class gate {
 public:
  constexpr gate() noexcept { detail::note_created(this); }
  gate(gate const&) = delete;
  gate& operator=(gate const&) = delete;
  inline ~gate();

  /// How many wait.
  [[nodiscard]] std::size_t waiting() const noexcept {
    detail::apply_own_events_at(this);
    detail::note_access(this, true);                // who comes for a release only reads
    return count_.load(std::memory_order_relaxed);  // relaxed: a hint if there are other threads
  }
  /// How often it was woken.  What was done before that is seen by who finds the number greater.
  [[nodiscard]] std::uint64_t epoch() const noexcept {
    detail::apply_own_events_at(this);
    detail::note_access(this, false);
    return epoch_.load(std::memory_order_acquire);  // [1] acquire: with [2] and [8]
  }

  /// For who gives something back, also in a destructor: what they wait for can be had.  As many as
  /// the backend says go on in their turn, and look again: the one that waits longest; where
  /// schedules are explored, of those who wait for a lock or the like all, since any of them could
  /// be first.  By a process of their scheduler, or where one is unwound.
  inline void release() noexcept;
  /// All of them.
  inline void release_all() noexcept;
  /// For the library: the same as part of what else is done there (deferred_events.hpp).
  inline void release_now() noexcept;
  inline void release_all_now() noexcept;
  /// For the library's reports.
  void describe(deadlock::waiter& w) const {
    if (owner_) owner_->describe(w, count_.load(std::memory_order_relaxed));  // relaxed: WAIT-1
  }
  /// The same, before it is used.
  void belongs_to(detail::gate_owner const& owner) noexcept { owner_ = &owner; }

 private:
  friend class detail::gate_table;

  std::atomic<std::size_t> count_ = 0;
  std::atomic<std::uint64_t> epoch_ = 0;
  std::atomic<detail::gate_home*> home_ = nullptr;  // while a process waits
  detail::gate_waiter* first_ = nullptr;            // who waits longest
  detail::gate_waiter* last_ = nullptr;
  gate* next_ = nullptr;  // of the gates at which somebody waits
  gate* previous_ = nullptr;
  detail::gate_owner const* owner_ = nullptr;  // for reports; null: the operation says it all
};

/// Waiting for one another.
struct syncing {
  static constexpr bool is_of_processes = true;  // who performs it is one (tasking.hpp)
  /// Until somebody wakes us at that gate.  With the `epoch` that it had: unless somebody has since
  /// then, which lets the others go first.
  struct wait : op<void> {
    static constexpr detail::scheduling_rule scheduling = detail::scheduled_as_wait;
    explicit wait(gate& g) noexcept : here(g, true, false) {}
    wait(gate& g, std::uint64_t epoch) noexcept : here(g, true, false), seen(epoch) {}
    wait(gate& g, std::uint64_t epoch, detail::for_release) noexcept
        : here(g, false, false), seen(epoch) {}
    detail::gate_waiter here;
    std::optional<std::uint64_t> seen;
    friend std::size_t hash_value(wait const&) { return 0; }  // addresses differ from run to run
  };
  /// The same, until then at the latest: false if nobody has woken us by then.  O(log n), of n who
  /// wait with a deadline.
  struct wait_until : op<bool> {
    static constexpr detail::scheduling_rule scheduling = detail::scheduled_as_wait;
    wait_until(gate& g, std::uint64_t epoch, instant t) noexcept
        : here(g, true, true), seen(epoch), until(t, here.parked) {}
    wait_until(gate& g, std::uint64_t epoch, instant t, detail::for_release) noexcept
        : here(g, false, true), seen(epoch), until(t, here.parked) {}
    wait_until(wait_until&& other) noexcept
        : here(static_cast<detail::gate_waiter&&>(other.here)),
          seen(other.seen),
          until(other.until.at(), here.parked) {}
    detail::gate_waiter here;
    std::uint64_t seen;
    detail::alarm until;
    friend std::size_t hash_value(wait_until const&) { return 0; }
  };
  /// Those who wait longest go on in their turn, `most` of them.
  struct wake : op<void> {
    static constexpr detail::scheduling_rule scheduling = detail::scheduled_as_access;
    explicit wake(gate& g, std::size_t n = 1) noexcept : at(&g), most(n) {}
    gate* at;
    std::size_t most;
    friend std::size_t hash_value(wake const&) { return 0; }
  };
  /// We have something now that there is once, a lock: so what performs this cannot fork any more.
  /// Says who we are.
  struct own : op<process_id, seals> {
    static constexpr detail::scheduling_rule scheduling{.checks_cancellation = true};
  };
  /// Says that something which processes share is looked at, or written.  For backends that explore
  /// what may come before what; to others it means nothing.
  struct touch : op<void> {
    static constexpr detail::scheduling_rule scheduling = detail::scheduled_as_access;
    touch(void const* what, bool is_written) noexcept : location(what), writes(is_written) {}
    void const* location;
    bool writes;
    friend std::size_t hash_value(touch const&) { return 0; }
  };
  using operations = op_list<wait, wait_until, wake, own, touch>;
};

// ---- how a gate and a waiter end, and how a gate is released

gate::~gate() {
  detail::apply_events_at(this);
  // [6] acquire: with [5] of gate_table.hpp.
  if (auto* const home = home_.load(std::memory_order_acquire)) {
    detail::note_access(this, true);
    home->on_end(*this);
  }
  detail::note_destroyed(this);
}
detail::gate_waiter::~gate_waiter() {
  if (is_timed) note_access(at, false);  // a wake that came too late may have taken it off the list
  // [10] acquire: with [9] of gate_table.hpp.
  if (auto* const home = home_.load(std::memory_order_acquire)) home->on_end(*this);
}
void gate::release() noexcept {
  detail::cause_event("the release of a gate", this, [this] { release_now(); });
}
void gate::release_all() noexcept {
  detail::cause_event("the release of a gate", this, [this] { release_all_now(); });
}
void gate::release_now() noexcept {
  detail::note_access(this, true);
  // [8] seq_cst: with [7] of gate_table.hpp.  release: a process that finds the number greater [1]
  // sees what was done before.
  epoch_.fetch_add(1, std::memory_order_seq_cst);
  if (auto* const home = home_.load(std::memory_order_seq_cst)) home->on_release(*this, false);
}
void gate::release_all_now() noexcept {
  detail::note_access(this, true);
  epoch_.fetch_add(1, std::memory_order_seq_cst);  // [8], as above
  if (auto* const home = home_.load(std::memory_order_seq_cst)) home->on_release(*this, true);
}

}  // namespace weft
