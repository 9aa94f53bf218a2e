// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>

#include "weft/effects/detail/internal.hpp"
#include "weft/effects/eff.hpp"
#include "weft/effects/operation.hpp"
#include "weft/sched/base/backend.hpp"
#include "weft/sched/base/detail/deferred_events.hpp"
#include "weft/sched/base/detail/location_listener.hpp"
#include "weft/sched/base/errors.hpp"
#include "weft/sched/base/process_id.hpp"
#include "weft/sched/base/scheduled.hpp"
#include "weft/sched/sync/detail/timers.hpp"
#include "weft/sched/sync/detail/wait_place.hpp"
#include "weft/sched/sync/detail/waiter.hpp"

namespace weft {

class gate;
struct syncing;

namespace detail {
/// For reports: a process that holds, or has written, an object for which others wait; and the
/// place in the source where the process took or wrote the object.
struct holding {
  process_id process;
  std::source_location since;
};

/// The object that a gate is part of.  Its functions are called for reports, when no process runs.
class gate_owner {
 public:
  /// The call in which processes wait at the gate.
  [[nodiscard]] virtual std::string_view call() const noexcept = 0;
  /// Sets in `w` the reason why its process waits.  `waiting`: the number of processes that wait at
  /// the gate, including that of `w`.
  virtual void describe(deadlock::waiter& w, std::size_t waiting) const = 0;

 protected:
  gate_owner() = default;
  gate_owner(gate_owner const&) = default;
  gate_owner& operator=(gate_owner const&) = default;
  ~gate_owner() = default;
};
/// The text "1 process waits", "2 processes wait", and so on.
std::string text_of_waiters(std::size_t n);

/// Tag of a wait after which the process checks again, so that the order of arrival does not
/// matter.  Its gate is woken by releases only, not by syncing::wake.
struct for_release {};
}  // namespace detail

/// A list of waiting processes, the longest waiting first: locks and conditions are built on it;
/// use it for waits of your own.
///
///     if (empty) co_await syncing::wait{at};
///     ...
///     co_await syncing::wake{at};
///
/// On several threads, another process may wake the gate between the check and the wait.  A program
/// for several threads uses wait_while(), which does not miss such a wake:
///
///     co_await at.wait_while([&] { return empty; });
///
/// A gate knows no condition.  While a process waits, only processes of the same scheduler may use
/// the gate.  If the gate is destroyed while processes wait, they find `cancelled`.  To be woken by
/// threads outside the scheduler, use an external_event.
///
/// Each operation is O(1), plus O(1) for each process that is woken.  Allocates nothing.
class gate : public detail::wait_place {
 public:
  constexpr gate() noexcept { detail::note_created(this); }
  gate(gate const&) = delete;
  gate& operator=(gate const&) = delete;
  ~gate() {
    detail::apply_events_at(this);
    end();
    detail::note_destroyed(this);
  }

  /// The number of processes that wait.
  [[nodiscard]] std::size_t waiting() const noexcept {
    detail::apply_own_events_at(this);
    // A write, for explorers: it must not commute with the entry of a process that waits for a
    // release, and such an entry counts as a read.
    detail::note_access(this, true);
    return count_.load(std::memory_order_relaxed);  // relaxed: a hint if there are other threads
  }
  /// Waits while `holds()` returns true.  `holds()` is called at once, and after each wake and
  /// release; a wake between a call and the wait is not missed.  `holds` may also take an object,
  /// such as a lock, that it finds free: so the process can no longer fork.  Where schedules are
  /// explored, other processes may run before each call, which counts as a write of the gate.  The
  /// gate must outlive the wait, as it is read again after a wake.  Takes a frame from the pool.
  /// Throws the exceptions of `holds`; `cancelled` if the process is cancelled.
  template <std::predicate Predicate>
  eff<void, syncing> wait_while(Predicate holds,
                                std::source_location where = std::source_location::current());
  /// The number of wakes and releases of the gate so far, to be passed to syncing::wait.  A process
  /// that sees a greater number than before sees all that was done before that wake or release.
  /// This is no operation: where schedules are explored, it belongs to the step of the operation
  /// before; so perform syncing::touch at the gate first.
  [[nodiscard]] std::uint64_t epoch() const noexcept {
    detail::apply_own_events_at(this);
    detail::note_access(this, false);
    // [7] acquire: pairs with [8] of gate.cpp.
    return epoch_.load(std::memory_order_acquire);
  }
  /// The number of wakes and releases so far, read when the word of the gate has been set (ROOM-2
  /// of wait_room.hpp).
  [[nodiscard]] std::uint64_t epoch_now(detail::internal) const noexcept {
    // [8] seq_cst: comes after [5] of wait_room.hpp, and so sees the new epoch of each wake that
    // has read the word before [5].
    return epoch_.load(std::memory_order_seq_cst);
  }

  /// Wakes waiters after an object has been given back: they go on in their turn, and check whether
  /// they get the object.  Most backends wake the longest waiting process; a backend that chooses
  /// the order itself, such as that of an explorer, also wakes all others that wait for a lock or
  /// the like, since any of them could be first.  Called by a process of the waiters' scheduler,
  /// also in a destructor while the process is unwound.
  void release() noexcept;
  /// Wakes all waiters.
  void release_all() noexcept;
  /// Releases at once; release() and release_all() may defer that (deferred_events.hpp).
  void release_now(detail::internal) noexcept;
  void release_all_now(detail::internal) noexcept;
  /// Performs syncing::wake in the scheduler of the room `here`.  Throws std::logic_error if
  /// processes of another scheduler wait.
  void wake(detail::internal, detail::wait_room const& here, std::size_t most);
  /// Describes, for a report, the wait of a process at the gate.  Called while no process runs.
  void describe(detail::internal, deadlock::waiter& w) const {
    if (!owner_) return;
    w.what.replace(0, w.what.find(" at "), owner_->call());       // replaces "syncing::wait"
    owner_->describe(w, count_.load(std::memory_order_relaxed));  // relaxed: no process runs
  }
  /// Sets the owner that describe() asks; called before the gate is used.
  void belongs_to(detail::internal, detail::gate_owner const& owner) noexcept { owner_ = &owner; }

 private:
  void wake(std::size_t most, bool is_release) noexcept;

  std::atomic<std::uint64_t> epoch_ = 0;
  detail::gate_owner const* owner_ = nullptr;  // for reports; null: the operation's name is enough
};

namespace detail {
/// An access to a location that processes share.  Backends that explore schedules are told of it.
struct announced_access {
  void const* location = nullptr;  // null: there is no access
  bool writes = false;
  char const* call = nullptr;
};
}  // namespace detail

/// The operations with which processes wait for one another.
struct syncing {
  static constexpr bool performed_by_processes = true;  // a task with this effect is not light
  /// Waits until a process wakes the gate.  With an `epoch`: if the gate has been woken since its
  /// epoch() was that number, the process only yields.
  struct [[nodiscard("weft: co_await it")]] wait : op<void> {
    static constexpr detail::scheduling_rule scheduling = detail::scheduled_as_wait;
    [[nodiscard("weft: co_await it")]] explicit wait(gate& g) noexcept : here(&g) {}
    [[nodiscard("weft: co_await it")]] wait(gate& g, std::uint64_t epoch) noexcept
        : here(&g), seen(epoch) {}
    [[nodiscard("weft: co_await it")]] wait(gate& g, std::uint64_t epoch,
                                            detail::for_release) noexcept
        : here(&g, {.is_in_line = false}), seen(epoch) {}
    detail::room_waiter here;
    std::optional<std::uint64_t> seen;
    friend std::size_t hash_value(wait const&) { return 0; }  // 0: addresses differ from run to run
  };
  /// Waits until a process wakes the gate, but until `t` at the latest.  `co_await` yields false if
  /// the gate was not woken by then.  O(log n) in the waiters with a deadline.
  struct [[nodiscard("weft: co_await it")]] wait_until : op<bool> {
    static constexpr detail::scheduling_rule scheduling = detail::scheduled_as_wait;
    [[nodiscard("weft: co_await it")]] wait_until(gate& g, std::uint64_t epoch, instant t) noexcept
        : here(&g, {.is_timed = true}), seen(epoch), until(t, here.parked) {}
    [[nodiscard("weft: co_await it")]] wait_until(gate& g, std::uint64_t epoch, instant t,
                                                  detail::for_release) noexcept
        : here(&g, {.is_in_line = false, .is_timed = true}), seen(epoch), until(t, here.parked) {}
    wait_until(wait_until&& other) noexcept
        : here(static_cast<detail::room_waiter&&>(other.here)),
          seen(other.seen),
          until(other.until.at(), here.parked) {}
    detail::room_waiter here;
    std::uint64_t seen;
    detail::alarm until;
    friend std::size_t hash_value(wait_until const&) { return 0; }
  };
  /// Wakes the `most` longest waiting processes, which go on in their turn.
  struct [[nodiscard("weft: co_await it")]] wake : op<void> {
    static constexpr detail::scheduling_rule scheduling = detail::scheduled_as_access;
    [[nodiscard("weft: co_await it")]] explicit wake(gate& g, std::size_t n = 1) noexcept
        : at(&g), most(n) {}
    gate* at;
    std::size_t most;
    friend std::size_t hash_value(wake const&) { return 0; }
  };
  /// Performed by a process that is about to hold an object that exists only once, such as a lock.
  /// Tells backends that explore schedules that the process reads or writes `what` next.
  /// `name_of_call`: the call that performs this, for reports, in static storage; may be null.
  /// Seals: the process can no longer fork.  `co_await` yields the id of the process.  Throws
  /// `cancelled` if the process is cancelled.
  struct [[nodiscard("weft: co_await it")]] own : op<process_id, seals>, detail::announced_access {
    static constexpr detail::scheduling_rule scheduling{.is_shared = true,
                                                        .checks_cancellation = true};
    [[nodiscard("weft: co_await it")]] own() noexcept {}
    [[nodiscard("weft: co_await it")]] own(void const* what, bool is_written,
                                           char const* name_of_call = nullptr) noexcept
        : announced_access{what, is_written, name_of_call} {}
    friend std::size_t hash_value(own const&) { return 0; }
  };
  /// Tells backends that explore schedules that the process reads or writes `what`, a location that
  /// processes share; with other backends it does nothing.  `name_of_call`: the call that performs
  /// this, for reports, in static storage; may be null.
  struct [[nodiscard("weft: co_await it")]] touch : op<void>, detail::announced_access {
    static constexpr detail::scheduling_rule scheduling{
        .is_shared = true, .is_free = true, .is_repeated = true};
    [[nodiscard("weft: co_await it")]] touch(void const* what, bool is_written,
                                             char const* name_of_call = nullptr) noexcept
        : announced_access{what, is_written, name_of_call} {}
    friend std::size_t hash_value(touch const&) { return 0; }
  };
  using operations = op_list<wait, wait_until, wake, own, touch>;
};

template <std::predicate Predicate>
eff<void, syncing> gate::wait_while(Predicate holds, std::source_location where) {
  static constexpr auto call = "weft::gate::wait_while";
  co_await detail::located(syncing::own(this, true, call), where);
  for (;;) {
    auto const seen = epoch();
    if (!holds()) co_return;
    co_await detail::located(syncing::wait(*this, seen), where);
    co_await detail::located(syncing::touch(this, true, call), where);
  }
}

}  // namespace weft
