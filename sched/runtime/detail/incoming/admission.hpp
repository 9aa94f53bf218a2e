// SPDX-License-Identifier: MIT
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>

#include "weft/effects/handle.hpp"
#include "weft/sched/base/backend.hpp"
#include "weft/sched/base/process.hpp"

namespace weft::detail {

/// The limit on the number of processes, and the queue of the processes and threads that wait to
/// start one more.
///
///   ADMIT-1  `alive_` counts the processes that were admitted and have not ended.  It exceeds
///       `most_` only by tasks that have become processes (enter_anyway()).  When a process ends
///       and there is room, the ticket that has waited longest is admitted, whether it is that of a
///       process or of a thread outside.  A later request is admitted at once only if there is room
///       and no ticket waits.
///   ADMIT-2  The ticket of a process also holds the new process that this process has made, and
///       that has not begun.
///   ADMIT-3  A thread that was admitted while it slept counts in `admitted_` until its process is
///       put.  The put and the decrement happen under one lock: a thread that calls
///       is_shut_to_outside() sees both of them or neither.
///
/// Thread safe.  Without a limit nothing is counted, and the lock is never taken.
class admission {
 public:
  /// An entry of the queue: for a process, or for a thread outside.
  struct ticket : pooled {
    enum class decision : std::uint8_t { none, admitted, turned_away };

    ticket() = default;
    explicit ticket(process& p) noexcept : owner(&p) {}

    ticket* next = nullptr;
    process* owner = nullptr;           // the waiting process, and a count of it; null: a thread
    std::uint64_t answer = 0;           // the answer to resume the owner with
    process* spawned = nullptr;         // the new process, made by the owner (ADMIT-2)
    bool owner_goes_first = false;      // the owner is put before the spawned process
    decision decided = decision::none;  // used only for a thread outside
  };

  /// Sets the limit; 0: no limit.  Called before any process runs.
  void limit(std::size_t most, overflow_policy when_full) noexcept;
  [[nodiscard]] bool is_limited() const noexcept { return most_ != 0; }
  [[nodiscard]] std::size_t most() const noexcept { return most_; }
  /// Whether a process or a thread waits when it finds no room; otherwise its request fails.
  [[nodiscard]] bool waits_when_full() const noexcept { return waits_when_full_; }
  /// Sets how many processes are alive.
  void begin(std::size_t alive) noexcept;

  /// Takes room for one more process.  False if there is none.
  [[nodiscard]] bool try_enter() noexcept;
  /// Counts one more process, whether there is room or not.
  void enter_anyway() noexcept;
  enum class outcome : std::uint8_t { admitted, waits, refused };
  /// Takes room.  If there is none, the ticket's process waits, unless `is_refused(process
  /// const&)`, which is called under the lock, refuses it (CANCEL-2).
  template <class IsRefused>
  [[nodiscard]] outcome enter_or_wait(ticket& t, IsRefused const& is_refused) noexcept {
    std::lock_guard const lock(mutex_);
    if (take_room()) return outcome::admitted;
    if (is_refused(static_cast<process const&>(*t.owner))) return outcome::refused;
    append(t);
    return outcome::waits;
  }
  /// Called when a process has ended.  Admits waiting threads, and returns the ticket of a process
  /// to admit, or null.  When that process has been begun, the caller calls next().
  [[nodiscard]] ticket* leave() noexcept;
  /// Admits waiting threads, and returns the ticket of a process to admit, or null, as leave()
  /// does.
  [[nodiscard]] ticket* next() noexcept;

  // ---- threads outside

  /// Takes room, or waits for it, and calls `put()`.  Throws too_many_processes if there is no room
  /// and the limit says to fail (waits_when_full()) or `may_wait` is false; scheduler_stopped if
  /// close() was or is called; the exceptions of put().
  template <class Put>
  void enter_from_outside(bool may_wait, Put put) {
    std::unique_lock lock(mutex_);
    if (is_closed_) throw_closed();
    bool const has_slept = !take_room();
    if (has_slept) sleep(lock, may_wait);
    // The put is under the same lock as the decrement of `admitted_` (ADMIT-3).
    try {
      put();
    } catch (...) {
      --alive_;  // a ticket gets the room later: when a process ends, or no process is ready
      admitted_ -= has_slept;
      throw;
    }
    admitted_ -= has_slept;
  }
  /// Turns away the threads that wait, and all that come later.
  void close() noexcept;
  /// Whether no thread outside can start a process until an existing process has ended.
  [[nodiscard]] bool is_shut_to_outside() const noexcept;

  // ---- processes that wait

  [[nodiscard]] bool has_waiters() const noexcept;
  template <class F>
  void for_each_waiter(F f) const {
    if (!is_limited()) return;
    std::lock_guard const lock(mutex_);
    for (auto const* t = first_; t; t = t->next)
      if (t->owner) f(*t->owner);
  }
  /// Takes the tickets of processes for which `is_meant(process const&)` off the queue.  Returns
  /// them as a list; null if there are none.
  ///
  /// A ticket is not part of an operation, as a waiter is (WAITER-2 of waiter.hpp): a process that
  /// is unwound does not take the lock in order to leave this queue.  So no handler around a
  /// process of the queue may end while `is_meant` looks at the frames of that process.
  template <class IsMeant>
  [[nodiscard]] ticket* turn_away(IsMeant const& is_meant) noexcept {
    if (!is_limited()) return nullptr;
    std::lock_guard const lock(mutex_);
    ticket* found = nullptr;
    ticket** end = &found;
    last_ = nullptr;
    for (ticket** at = &first_; *at;) {
      ticket& t = **at;
      if (t.owner && is_meant(static_cast<process const&>(*t.owner))) {
        *at = std::exchange(t.next, nullptr);
        *std::exchange(end, &t.next) = &t;
      } else {
        last_ = &t;
        at = &t.next;
      }
    }
    return found;
  }

 private:
  [[noreturn, gnu::cold]] static void throw_closed();

  // ---- under the lock

  /// Blocks the calling thread, which has found no room, until it is admitted.  Throws
  /// too_many_processes if the limit says to fail or `may_wait` is false; scheduler_stopped if
  /// close() turns the thread away.
  void sleep(std::unique_lock<std::mutex>& lock, bool may_wait);
  [[nodiscard]] bool take_room() noexcept;
  void append(ticket& t) noexcept;
  /// While there is room, admits from the front of the queue: threads, up to the first process,
  /// whose ticket it returns.  Null if there is none.
  [[nodiscard]] ticket* admit() noexcept;

  std::size_t most_ = 0;
  bool waits_when_full_ = false;
  std::mutex mutable mutex_;
  std::optional<std::condition_variable> decided_;  // made if there is a limit
  std::size_t alive_ = 0;                           // ADMIT-1: processes that have not ended
  std::size_t admitted_ = 0;                        // ADMIT-3: threads whose process is not put yet
  bool is_closed_ = false;
  ticket* first_ = nullptr;  // the ticket that has waited longest
  ticket* last_ = nullptr;
};

}  // namespace weft::detail
