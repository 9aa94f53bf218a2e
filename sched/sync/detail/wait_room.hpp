// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "weft/sched/base/detail/intrusive_list.hpp"
#include "weft/sched/base/detail/location_listener.hpp"
#include "weft/sched/base/detail/ready_sink.hpp"
#include "weft/sched/base/process.hpp"
#include "weft/sched/sync/detail/wait_place.hpp"
#include "weft/sched/sync/detail/waiter.hpp"

namespace weft::detail {

[[noreturn, gnu::cold]] void throw_other_scheduler();

/// A room in which processes of a scheduler wait: at gates, for external events, or for tasks.
/// Each of these three has a room of its own, so that their waiters do not meet at one lock.
///
///   ROOM-1  If the scheduler has several threads, or threads outside it may come, the lists of
///       waiters are accessed under the lock.
///   ROOM-2  The word of a gate or an external event names the room exactly while a process waits
///       there.  A process that enters sets the word, and then looks whether the event for which it
///       would wait has happened; a thread that makes the event happen does so before it reads the
///       word.  So either that thread finds the room, or the process does not wait.  (A task says
///       in its own state that a process waits: TASKROOM-2 of task_room.hpp.)
///   ROOM-3  A waiter that has entered is in the room until its process is taken by a waker, by a
///       canceller, or when all are dropped; or until its operation ends.  The last access to a
///       waiter that leaves sets its `home_` to null.  The last access to a place that all waiters
///       have left sets its word to `nobody`, unless the place is an external event that was
///       opened.
///   ROOM-4  Any thread may open an external event, by one exchange of its word.  If the exchange
///       finds a room, a waiter is there, and stays in the room until that thread comes and takes
///       it off, even if another party takes the process: the destructor of the waiter, and
///       drop_all(), wait for that thread.
///   ROOM-5  A process that an external event wakes is put before its waiter leaves the room, and
///       both happen under the lock.  A thread that asks whether a process waits here holds the
///       same lock: so it finds the process either in the room or ready.  The waiter leaves its
///       event before the put, as the process may destroy the event as soon as it is put.
///   ROOM-6  A process enters the room before it is fully asleep.  The backend is told when the
///       wait begins, and when the process is asleep: if the process is put in between, it runs
///       only when it is asleep (sharing_state.hpp).
///
/// Entering, leaving and waking one process are O(1).  Nothing is allocated.
class wait_room {
 public:
  struct rules {
    bool locks;                      // several threads use the room, so it has to be locked
    bool is_open_to_others = false;  // threads outside the scheduler use the room too
    bool wakes_candidates = false;   // a release wakes all processes that could be first
  };
  wait_room(ready_sink& sink, rules r) noexcept : sink_(sink), rules_(r) {}
  wait_room(wait_room const&) = delete;
  wait_room& operator=(wait_room const&) = delete;
  ~wait_room() = default;

  /// Enters the waiter, which holds its process, at its place.  Another party, such as an alarm,
  /// may have taken the process by now.  The wait is `refused` if the room is closed, or
  /// `is_refused(process const&)` is true (CANCEL-2 of wait_registry.hpp); and `answered` if the
  /// external event is open, or `has_happened()` is true (ROOM-2).  Both functions are called under
  /// the lock.  Throws std::logic_error if processes of another scheduler wait at the gate, or if
  /// another process waits for the external event.
  template <class IsRefused, class HasHappened>
  [[nodiscard, gnu::always_inline]] wait_entry enter(room_waiter& w, IsRefused const& is_refused,
                                                     HasHappened const& has_happened) {
    auto const locked = lock();
    note_access(w.at, w.is.is_in_line);
    if (closed_ || is_refused(w.parked.waiting_process())) return wait_entry::refused;
    if (!begin_at(*w.at)) return wait_entry::answered;
    if (has_happened()) {
      (void)end_at(*w.at);
      return wait_entry::answered;
    }
    link_at(w, *w.at);
    link(w);
    return wait_entry::waits;
  }
  /// Wakes the `most` longest waiting processes at the place.  A release of one process, in a room
  /// that `wakes_candidates`, also wakes the others that are not in line: any of them could be
  /// first.
  void wake(wait_place& at, std::size_t most, bool is_release) noexcept;
  /// Called when the external event was opened: wakes its process (ROOM-4).  Throws the exception
  /// of the put; then the process still waits, or is cancelled.
  void on_open(wait_place& at);
  /// Takes the process of that waiter, for a canceller.  Null if the waiter has not entered, or
  /// stays, or another party has taken the process.
  [[nodiscard]] process* take(room_waiter& w) noexcept;
  /// Called when a place at which processes wait is destroyed: cancels their waits.
  void on_end(wait_place& at) noexcept;
  /// Called when a waiter that may still be in the room is destroyed: returns when it has left.
  void on_end(room_waiter& w) noexcept;
  /// Cancels the wait of every process here, except those whose waiter `stays`; puts them without
  /// the lock.
  void cancel_all() noexcept;
  /// Cancels the wait of every process here, and refuses others until reopen().
  void close() noexcept;
  void reopen() noexcept;
  /// Called when the scheduler ends: drops every process that waits here, even if it stays.
  void drop_all() noexcept;
  [[nodiscard]] bool has_waiters() const noexcept {
    auto const locked = lock();
    return !all_.empty();
  }
  /// Calls `f(process const&, wait_place const*)` for each process that waits; the place is null if
  /// the process is only in the room.
  template <class F>
  void for_each_waiter(F const& f) const {
    auto const locked = lock();
    for (auto* w = all_.first(); w; w = all_.next(*w))
      w->parked.look([&](process const& p) { f(p, const_cast<wait_place const*>(w->at)); });
  }

 protected:
  /// Recursive: a put that fails for lack of memory may unwind the process under the lock, and the
  /// destructor of its waiter then locks again.
  using lock_type = std::unique_lock<std::recursive_mutex>;
  [[nodiscard]] lock_type lock() const noexcept {
    if (rules_.locks) return lock_type(mutex_);
    return {};
  }

  // ---- under the lock

  void link(room_waiter& w) noexcept {
    // relaxed: without the lock, only the process of the waiter reads `home_`.
    w.home_.store(this, std::memory_order_relaxed);
    all_.push_back(w);
  }
  void unlink(room_waiter& w) noexcept {
    all_.remove(w);
    // [3] release: pairs with [4] of wait_place.hpp and wait_room.cpp: all accesses of the room to
    // the waiter happen before the waiter is destroyed (ROOM-3).
    w.home_.store(nullptr, std::memory_order_release);
  }
  [[nodiscard]] bool is_inside(room_waiter const& w) const noexcept {
    return w.home_.load(std::memory_order_relaxed);  // relaxed: under the lock
  }
  static void link_at(room_waiter& w, wait_place& at) noexcept {
    at.waiters_.push_back(w);
    count(at, 1);
  }
  static void unlink_at(room_waiter& w, wait_place& at) noexcept {
    at.waiters_.remove(w);
    count(at, ~std::uint32_t{0});
  }
  [[nodiscard]] auto const& all() const noexcept { return all_; }
  [[nodiscard]] static room_waiter* longest_waiting(wait_place const& at) noexcept {
    return at.waiters_.first();
  }

 private:
  [[nodiscard]] std::uintptr_t word() const noexcept {
    return reinterpret_cast<std::uintptr_t>(this);
  }
  static void count(wait_place& at, std::uint32_t more) noexcept {
    // relaxed: written under the lock.
    at.count_.store(at.count_.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
  }
  /// Sets the word of a place.  False if the place is an external event that is open.
  [[nodiscard]] bool begin_at(wait_place& at) {
    if (rules_.is_open_to_others) return begin_at_event(at);
    // relaxed: under the lock.
    if (auto const found = at.word_.load(std::memory_order_relaxed); found == word())
      return true;
    else if (found != wait_place::nobody)
      throw_other_scheduler();
    if (rules_.locks)
      // [5] seq_cst: comes before has_happened() in enter(); pairs with [8] of gate.cpp (ROOM-2).
      at.word_.store(word(), std::memory_order_seq_cst);
    else
      at.word_.store(word(), std::memory_order_relaxed);  // relaxed: no other thread comes
    return true;
  }
  [[nodiscard]] bool begin_at_event(wait_place& at);
  /// Resets the word, if no process waits at the place.  False if a thread has just opened the
  /// event.
  bool end_at(wait_place& at) noexcept {
    if (!at.waiters_.empty()) return true;
    if (rules_.is_open_to_others) return end_at_event(at);
    // [1] release: pairs with [2] of wait_place.hpp: all accesses of the room to the place happen
    // before the place is destroyed (ROOM-3).
    at.word_.store(wait_place::nobody, std::memory_order_release);
    return true;
  }
  [[nodiscard]] bool end_at_event(wait_place& at) noexcept;
  /// Takes the process of a waiter, and the waiter off its lists (ROOM-4).  Null if another party
  /// has taken the process.
  [[nodiscard]] process* leave(room_waiter& w) noexcept;

  ready_sink& sink_;
  rules const rules_;
  bool closed_ = false;
  std::recursive_mutex mutable mutex_;
  intrusive_list<room_waiter, in_room> all_;
};

}  // namespace weft::detail
