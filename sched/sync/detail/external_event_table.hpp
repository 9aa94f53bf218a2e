// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "sched/base/detail/ready_sink.hpp"
#include "sched/base/detail/relax.hpp"
#include "sched/base/process.hpp"
#include "sched/base/thunk.hpp"
#include "sched/sync/detail/waiter.hpp"
#include "sched/sync/detail/wake_batch.hpp"
#include "sched/sync/external_event.hpp"

namespace weft::detail {

/// The external events for which processes of a scheduler wait.
///
///   AWAITED-1  The list of events and `due_`, its length, are accessed under `mutex_` only.
///   AWAITED-2  A process that an event wakes is put and stops being due in one step, as seen by a
///       thread that asks whether something is due: that thread holds the same lock.  So no process
///       is ever both due and ready, or neither; and the scheduler, which cannot end before it has
///       asked, is alive until the step is done.  A process that its alarm wakes is due until it
///       goes on; no thread asks before that.
///   AWAITED-3  A process enters the list before it is fully asleep.  Its backend, which is told
///       before and after, waits for that when the process is put (sharing_state.hpp).
///   AWAITED-4  A waiter that is destroyed while its event is on the list takes the event off, if
///       the event's word still names the waiter (EXTERNAL-1).  Otherwise a thread has just opened
///       the event and will still access the waiter: the waiter spins, without the lock, until it
///       is told that the event is off the list [11].
///
/// All operations are thread safe, and O(1) but for those that visit all.  Nothing is allocated.
class external_event_table final : public external_home {
 public:
  external_event_table(ready_sink& sink, bool several_threads) noexcept
      : sink_(sink), several_threads_(several_threads) {}
  external_event_table(external_event_table const&) = delete;
  external_event_table& operator=(external_event_table const&) = delete;
  ~external_event_table() = default;

  /// The waiter's process waits for its event (EXTERNAL-2).  The wait is `answered` if the event is
  /// open, and `refused` if the table is closed or `is_refused(process const&)` (CANCEL-2).
  /// Throws std::logic_error if a process waits for the event already.
  template <class IsRefused>
  [[nodiscard]] wait_entry enter(external_waiter& w, IsRefused const& is_refused) {
    external_event& e = *w.at;
    std::lock_guard const lock(mutex_);
    if (closed_ || is_refused(w.parked.waiting_process())) return wait_entry::refused;
    note_access(&e, true);
    if (e.home_.load(std::memory_order_relaxed)) throw_occupied();  // relaxed: AWAITED-1
    link(e);
    set_waiting(w);
    std::uintptr_t const found = e.enter(w);
    if (found == external_event::no_waiter) return wait_entry::waits;
    leave(w);  // the caller keeps the process
    return wait_entry::answered;
  }
  /// Takes that waiter's process.  Null if another party has taken it.
  [[nodiscard]] process* take(external_waiter& w) noexcept {
    std::lock_guard const lock(mutex_);
    process* const p = w.parked.take();
    if (!p) return nullptr;
    note_access(w.at, true);
    if (w.at->withdraw(w)) leave(w);  // else a thread has just opened it, and takes it off
    return p;
  }
  /// Takes the processes for which `is_meant(process const&)`.  False if `to` has no room for all.
  template <class IsMeant>
  [[nodiscard]] bool take_if(IsMeant const& is_meant, wake_batch& to) noexcept {
    std::lock_guard const lock(mutex_);
    for (external_event* e = first_; e;) {
      external_event* const next = e->next_;
      if (!to.reserve_one()) return false;
      // Not const: the waiter lies in the operation of a process.
      auto* const w = const_cast<external_waiter*>(e->current_waiter());
      if (process* const p = w ? w->parked.take_if(is_meant) : nullptr) {
        note_access(e, true);
        // Else a thread has just opened the event: it finds no process, and takes the event off
        // (AWAITED-4).
        if (e->withdraw(*w)) leave(*w);
        to.add(*p);
      }
      e = next;
    }
    return true;
  }
  /// From now on no process waits here; those that do are cancelled.
  void close() noexcept {
    std::lock_guard const lock(mutex_);
    closed_ = true;
    for (external_event* e = first_; e;) {
      external_event* const next = e->next_;
      if (external_waiter* const w = e->withdraw()) {  // else a thread has just opened it
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
  /// Drops every process that waits here: the scheduler ends.
  void drop_all() noexcept {
    for (relax wait;; wait()) {
      process* dropped = nullptr;
      {
        std::lock_guard const lock(mutex_);
        closed_ = true;
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
      // None: the thread that has opened an event is about to put the process.
      if (dropped) (void)thunk(dropped);
    }
  }
  /// While the lock is held, no process that waits here is woken, so it may be examined.
  [[nodiscard]] std::unique_lock<std::recursive_mutex> hold() const noexcept {
    return std::unique_lock(mutex_);
  }
  [[nodiscard]] bool has_waiters() const noexcept {
    std::lock_guard const lock(mutex_);  // AWAITED-2
    return due_ != 0;
  }
  /// Calls `f(process const&)` for each process that waits, while none runs.
  template <class F>
  void for_each_waiter(F f) const {
    std::lock_guard const lock(mutex_);
    for (auto const* e = first_; e; e = e->next_)
      if (auto const* const w = e->current_waiter(); w && w->parked.is_waiting())
        f(w->parked.waiting_process());
  }

 private:
  /// AWAITED-2, EXTERNAL-3.
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
      if (closed_) {  // close() has not seen the process
        sink_.make_cancelled(*t.release());
        throw;
      }
      // An alarm that was due meanwhile has found no process: so the process waits on.
      link(e);
      w.parked.hold(*t.release());
      set_waiting(w);
      // release: as in external_event::enter() [3].  A thread that takes the process sees it all.
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
      sink_.put_from_outside(t, std::move(in));  // any thread may end the event
    } catch (...) {  // no memory in the backend; this may be a thread of the scheduler
      sink_.make_ready(std::move(t));
    }
  }
  /// AWAITED-4.
  void on_end(external_waiter& w) noexcept override {
    process* cut_off = nullptr;
    {
      std::lock_guard const lock(mutex_);
      if (w.home_.load(std::memory_order_relaxed) && w.at->withdraw(w)) {  // relaxed: AWAITED-1
        note_access(w.at, true);
        cut_off = w.parked.take();
        leave(w);
      }
    }
    // [12] acquire: pairs with [11].
    for (relax wait; w.home_.load(std::memory_order_acquire); wait()) {
    }
    // The frames were unwound together with a handler round them: the process must find that out.
    if (cut_off) sink_.make_ready(thunk(cut_off));
  }

  [[noreturn, gnu::cold]] static void throw_occupied() {
    throw std::logic_error("weft: another process already waits for this external event");
  }

  // ---- under the lock

  void link(external_event& e) noexcept {
    e.home_.store(this, std::memory_order_relaxed);  // relaxed: published with the waiter, [3]
    e.previous_ = nullptr;
    e.next_ = std::exchange(first_, &e);
    if (e.next_) e.next_->previous_ = &e;
    ++due_;
  }
  void set_waiting(external_waiter& w) noexcept {
    w.home_.store(this, std::memory_order_relaxed);  // relaxed: only its setter reads it unlocked
    if (!several_threads_) w.parked.set_wait_place(process::wait_place::external_event, &w);
  }
  /// The waiter's event is off the list.  Its process has been taken by then: the waiter may end.
  void leave(external_waiter& w) noexcept {
    external_event& e = *w.at;
    (e.previous_ ? e.previous_->next_ : first_) = e.next_;
    if (e.next_) e.next_->previous_ = e.previous_;
    --due_;
    // [5] release: the last access to the event here; ~external_event(), which takes no lock then,
    // sees it ([6] of external_event.hpp).
    e.home_.store(nullptr, std::memory_order_release);
    // [11] release: the last access to the waiter here; its destructor, which takes no lock then,
    // sees it [12].
    w.home_.store(nullptr, std::memory_order_release);
  }

  ready_sink& sink_;
  bool const several_threads_;
  /// Recursive: a put that fails closes the table.
  std::recursive_mutex mutable mutex_;
  external_event* first_ = nullptr;  // AWAITED-1
  std::size_t due_ = 0;              // AWAITED-1
  bool closed_ = false;              // under mutex_: no process is to wait any more
};

}  // namespace weft::detail
