// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "weft/sched/base/detail/ready_sink.hpp"
#include "weft/sched/base/detail/relax.hpp"
#include "weft/sched/base/process.hpp"
#include "weft/sched/base/thunk.hpp"
#include "weft/sched/sync/detail/waiter.hpp"
#include "weft/sched/sync/external_event.hpp"

namespace weft::detail {

/// The external events for which processes of a scheduler wait.
///
///   AWAITED-1  The list of events that have waiters, and `due_`, its length, are accessed under
///       `mutex_` only.  A process whose event is on the list is due.
///   AWAITED-2  A process that an event wakes is put, and stops being due, under the lock.  A
///       thread that asks whether something is due holds the same lock: so it never sees a process
///       that is both due and ready, or neither.  The scheduler cannot end before it has asked, so
///       it is alive until the process is put.  A process that its alarm wakes is due until it goes
///       on; no thread asks before that.
///   AWAITED-3  A process enters the list before it is fully asleep.  The backend is told when the
///       wait begins, and when the process is asleep: if the process is put in between, it runs
///       only when it is asleep (sharing_state.hpp).
///   AWAITED-4  A waiter that is destroyed while its event is on the list takes the event off, if
///       the event's word still names the waiter (EXTERNAL-1).  Otherwise a thread has just opened
///       the event and will still access the waiter: the destructor spins, without the lock, until
///       that thread has taken the event off the list [11].
///
/// All operations are thread safe, and O(1) but for those that visit all events.  Nothing is
/// allocated.
class external_event_table final : public external_home {
 public:
  explicit external_event_table(ready_sink& sink) noexcept : sink_(sink) {}
  external_event_table(external_event_table const&) = delete;
  external_event_table& operator=(external_event_table const&) = delete;
  ~external_event_table() = default;

  /// Enters the waiter at its event, for which its process then waits (EXTERNAL-2).  The wait is
  /// `answered` if the event is open, and `refused` if the table is closed or `is_refused(process
  /// const&)` is true (CANCEL-2).  Throws std::logic_error if a process waits for the event
  /// already.
  template <class IsRefused>
  [[nodiscard]] wait_entry enter(external_waiter& w, IsRefused const& is_refused) {
    external_event& e = *w.at;
    std::lock_guard const lock(mutex_);
    if (closed_ || is_refused(w.parked.waiting_process())) return wait_entry::refused;
    note_access(&e, true);
    if (e.home_.load(std::memory_order_relaxed)) throw_occupied();  // relaxed: under the lock
    link(e);
    set_waiting(w);
    std::uintptr_t const found = e.enter(w);
    if (found == external_event::no_waiter) return wait_entry::waits;
    leave(w);  // the process does not wait: the caller keeps it
    return wait_entry::answered;
  }
  /// Takes the process of that waiter.  Null if another party has taken the process.
  [[nodiscard]] process* take(external_waiter& w) noexcept {
    std::lock_guard const lock(mutex_);
    process* const p = w.parked.take();
    if (!p) return nullptr;
    note_access(w.at, true);
    if (w.at->withdraw(w)) leave(w);  // else a thread has just opened the event, and takes it off
    return p;
  }
  /// From now on no process waits here: cancels the waits that have begun, and enter() refuses.
  void close() noexcept {
    std::lock_guard const lock(mutex_);
    closed_ = true;
    for (external_event* e = first_; e;) {
      external_event* const next = e->next_;
      if (external_waiter* const w = e->withdraw()) {  // else a thread has just opened `e`
        process* const p = w->parked.take();
        leave(*w);
        if (p) sink_.make_cancelled(*p);
      }
      e = next;
    }
  }
  void reopen() noexcept {
    std::lock_guard const lock(mutex_);
    closed_ = false;
  }
  /// Called when the scheduler ends: drops every process that waits here.
  void drop_all() noexcept {
    for (relax wait;; wait()) {
      process* dropped = nullptr;
      {
        std::lock_guard const lock(mutex_);
        if (due_ == 0) return;
        for (external_event* e = first_; e && !dropped;) {
          external_event* const next = e->next_;
          if (external_waiter* const w = e->withdraw()) {
            dropped = w->parked.take();
            leave(*w);
          }
          e = next;
        }
      }
      // If no process was found, a thread that has just opened an event is about to put its
      // process.
      if (dropped) (void)thunk(dropped);
    }
  }
  /// Whether a process has ever waited here.  Called while no process runs.
  [[nodiscard]] bool was_used() const noexcept { return was_used_; }
  [[nodiscard]] bool has_waiters() const noexcept {
    std::lock_guard const lock(mutex_);  // puts are made under it, too (AWAITED-2)
    return due_ != 0;
  }
  /// Calls `f(process const&)` for each process that waits.
  template <class F>
  void for_each_waiter(F const& f) {
    std::lock_guard const lock(mutex_);
    for (external_event* e = first_; e; e = e->next_)
      if (auto* const w = e->current_waiter()) w->parked.look(f);
  }

 private:
  /// Puts the process under the lock (AWAITED-2), and does not touch the event after that
  /// (EXTERNAL-3).
  void on_open(external_waiter& w) override {
    std::lock_guard const lock(mutex_);
    external_event& e = *w.at;
    process* const p = w.parked.take();
    spare_node in = p ? std::move(w.spare) : nullptr;
    leave(w);
    if (!p) return;
    thunk t(p, 1);
    try {
      sink_.put_from_outside(t, std::move(in));
    } catch (...) {
      if (closed_) {  // close() has not found the process: so it is cancelled here
        sink_.make_cancelled(*t.release());
        throw;
      }
      // The process waits on, even if its alarm became due meanwhile and found no process.
      link(e);
      w.parked.hold(*t.release());
      set_waiting(w);
      // release: as in external_event::enter() [3].  A thread that takes the process sees all of
      // the waiter.
      e.word_.store(external_event::word_of(w), std::memory_order_release);
      throw;
    }
  }
  void on_end(external_event& e) noexcept override {
    std::lock_guard const lock(mutex_);
    external_waiter* const w = e.withdraw();
    process* const p = w ? w->parked.take() : nullptr;
    spare_node in = w ? std::move(w->spare) : nullptr;
    if (w) leave(*w);
    if (!p) return;
    fail_cancelled(*p);
    thunk t(p);
    try {
      sink_.put_from_outside(t, std::move(in));  // any thread may destroy the event
    } catch (...) {  // no memory; on a thread of the scheduler, make_ready() may need none
      sink_.make_ready(std::move(t));
    }
  }
  /// Takes the event of a waiter that is destroyed off the list (AWAITED-4).
  void on_end(external_waiter& w) noexcept override {
    process* cut_off = nullptr;
    {
      std::lock_guard const lock(mutex_);
      // relaxed: under the lock (AWAITED-1).
      if (w.home_.load(std::memory_order_relaxed) && w.at->withdraw(w)) {
        note_access(w.at, true);
        cut_off = w.parked.take();
        leave(w);
      }
    }
    // [12] acquire: pairs with [11].  After that no thread accesses the waiter here.
    for (relax wait; w.home_.load(std::memory_order_acquire); wait()) {
    }
    // The process still waits, and only the frames inside a handler were unwound, with the
    // operation: it is put, and finds that the handler has ended.
    if (cut_off) sink_.make_ready(thunk(cut_off));
  }

  [[noreturn, gnu::cold]] static void throw_occupied() {
    throw std::logic_error("weft: another process already waits for this external event");
  }

  // ---- called under the lock

  void link(external_event& e) noexcept {
    e.home_.store(this, std::memory_order_relaxed);  // relaxed: published with the waiter, [3]
    e.previous_ = nullptr;
    e.next_ = std::exchange(first_, &e);
    if (e.next_) e.next_->previous_ = &e;
    ++due_;
    if (!was_used_) was_used_ = true;  // not written again: other threads may link, too
  }
  void set_waiting(external_waiter& w) noexcept {
    w.home_.store(this, std::memory_order_relaxed);  // relaxed: only its process reads it unlocked
  }
  /// Takes the waiter's event off the list.  The process has been taken out of the waiter before,
  /// or is the one that runs: after this call the event and the waiter may be destroyed.
  void leave(external_waiter& w) noexcept {
    external_event& e = *w.at;
    (e.previous_ ? e.previous_->next_ : first_) = e.next_;
    if (e.next_) e.next_->previous_ = e.previous_;
    --due_;
    // [5] release: the last access to the event here.  ~external_event() reads this null without
    // the lock, and then sees all accesses before ([6] of external_event.hpp).
    e.home_.store(nullptr, std::memory_order_release);
    // [11] release: the last access to the waiter here.  Its destructor reads this null without the
    // lock, and then sees all accesses before [12].
    w.home_.store(nullptr, std::memory_order_release);
  }

  ready_sink& sink_;
  /// Recursive: a put that fails under the lock cancels all processes, which closes the table.
  std::recursive_mutex mutable mutex_;
  external_event* first_ = nullptr;  // the list (AWAITED-1)
  std::size_t due_ = 0;              // its length (AWAITED-1)
  bool was_used_ = false;            // under mutex_: an event was on the list
  bool closed_ = false;              // under mutex_: no process may wait any more
};

}  // namespace weft::detail
