// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "sched/base/backend.hpp"
#include "sched/base/detail/relax.hpp"
#include "sched/base/errors.hpp"
#include "sched/base/process.hpp"
#include "sched/base/thunk.hpp"
#include "sched/sync/detail/gate_table.hpp"
#include "sched/sync/detail/timers.hpp"
#include "sched/sync/external_event.hpp"

/// Where the processes of a scheduler wait: at gates and outside gates, and for a time to come.
///
///   WAIT-2  The list of outside gates and `due_`, their number, are touched under `outside_mutex_`,
///       always.
///   WAIT-3  Who is woken from outside is put and no longer due in one step, as seen by who asks
///       whether something is due: he asks under the same lock.  So none is ever both, or neither;
///       and the scheduler, which cannot end before he has asked, is there until the step is done.
///       Who is woken by his alarm is due until he goes on: nobody asks before that.
///   WAIT-4  A process enters a list before it is fully asleep.  Its backend, which is told before and
///       after, waits for it when it is put (sharing_state.hpp).
///   WAIT-5  Who goes on, or is unwound, while his outside gate is still on the list takes it off, if
///       the word is still his (EXTERNAL-1).  If not, somebody has just opened it and will look at him
///       still: he waits for that, without the lock, until he is told that it is off [11].
namespace weft::detail {

class waiting_room : public gate_table {
  friend class mailbox_registry;
  friend class join_table;

 public:
  /// Whether nothing will come from outside.  Thread safe.
  [[nodiscard]] quiescence_test quiescence_outside() const noexcept {
    return {[](void const* room) {
              auto const& here = *static_cast<waiting_room const*>(room);
              // Virtual time does not wait for what is outside: it goes on.
              if (!here.timers_.empty()) return here.has_virtual_time_;
              {
                std::lock_guard const lock(here.outside_mutex_);  // WAIT-3
                if (here.due_ != 0) return false;
              }
              return !here.somebody_may_come();
            },
            this};
  }

  // ---- outside gates

  using gate_table::ends;
  using gate_table::enter;
  /// The process waits there (EXTERNAL-2).  It is answered if the gate is open, and refused if nobody is to
  /// wait any more, or it `is_refused` (as at gates).  Throws std::logic_error if somebody waits
  /// there already.
  template <class IsRefused>
  [[nodiscard]] entering enter(external_waiter& w, IsRefused const& is_refused) {
    external_event& g = *w.at;
    std::lock_guard const lock(outside_mutex_);
    if (closed_ || is_refused(w.who.who())) return entering::refused;
    note_access(&g, true);
    if (home_of(g)) throw_occupied();
    link(*this, outside_, g);
    ++due_;
    w.home_.store(this, std::memory_order_relaxed);  // relaxed: who looks without the lock set it
    if (!has_several_threads()) w.who.stands_at(process::stands::outside, &w);
    std::uintptr_t const found = g.enter(w);
    if (found == external_event::nobody) return entering::waits;
    leave(w);  // our caller has the process
    return entering::answered;
  }
  /// It was opened, and he waited there (WAIT-3, EXTERNAL-3).
  void arrived(external_waiter& w) {
    std::lock_guard const lock(outside_mutex_);
    external_event& g = *w.at;
    process* const p = w.who.take();
    spare_node in = p ? std::move(w.spare) : nullptr;
    leave(w);
    if (!p) return;
    thunk t(p, 1);
    try {
      put_from_outside(t, std::move(in));
    } catch (...) {
      // An alarm that was due meanwhile has found nobody: then it waits on.
      link(*this, outside_, g);
      ++due_;
      w.who.waits(*t.release());
      if (!has_several_threads()) w.who.stands_at(process::stands::outside, &w);
      w.home_.store(this, std::memory_order_relaxed);  // relaxed: as when it entered
      // Release: as when it entered, who takes the waiter out finds all of it.
      g.word_.store(external_event::word_of(w), std::memory_order_release);
      throw;
    }
  }
  void ends(external_event& g) noexcept {
    std::lock_guard const lock(outside_mutex_);
    external_waiter* const w = g.withdraw();
    process* const p = w ? w->who.take() : nullptr;
    spare_node in = w ? std::move(w->spare) : nullptr;
    if (w) leave(*w);
    if (!p) return;
    cancel(*p);
    thunk t(p);
    try {
      put_from_outside(t, std::move(in));  // who ends it may be anyone
    } catch (...) {  // a backend without memory: then let us hope that it is one of us
      make_ready(std::move(t));
    }
  }
  /// WAIT-5.
  void ends(external_waiter& w) noexcept {
    process* cut_off = nullptr;
    {
      std::lock_guard const lock(outside_mutex_);
      if (home_of(w) && w.at->withdraw(w)) {
        note_access(w.at, true);
        cut_off = w.who.take();
        leave(w);
      }
    }
    // [12] acquire: with [11].
    for (relax wait; w.home_.load(std::memory_order_acquire); wait()) {
    }
    // Unwound with the handler round it: it is to find that out.
    if (cut_off) make_ready(thunk(cut_off));
  }

 protected:
  using gate_table::gate_table;
  using gate_table::take_from;
  ~waiting_room() = default;

  /// From any thread.  What it throws, it throws with the thunk as it was.
  virtual void put_from_outside(thunk& t) = 0;
  /// The same with memory that was made before: throws only what a backend does that reserves none.
  virtual void put_from_outside(thunk& t, spare_node in) = 0;
  /// Throws bad_alloc.
  [[nodiscard]] virtual spare_node reserve_put() = 0;

  /// A process, from outside.  If not, all who were on their way have come.
  [[nodiscard]] virtual bool somebody_may_come() const noexcept { return false; }

  /// At gates, or for a time to come.
  [[nodiscard]] bool somebody_waits_here() const noexcept {
    return somebody_waits_at_gates() || timers_.somebody_is_there();
  }
  [[nodiscard]] bool somebody_waits_outside() const noexcept {
    std::lock_guard const lock(outside_mutex_);
    return due_ != 0;
  }
  void wake_all_sleepers() noexcept {
    while (process* const p = timers_.take_any()) make_cancelled(*p);
  }

  /// From now on nobody waits for what is outside.
  void close_outside() noexcept {
    std::lock_guard const lock(outside_mutex_);
    closed_ = true;
    for (external_event* g = outside_; g;) {
      external_event* const next = g->next_;
      if (external_waiter* const w = g->withdraw()) {  // else somebody has just opened it
        process* const p = w->who.take();
        leave(*w);
        if (p) make_cancelled(*p);
      }
      g = next;
    }
  }
  /// Those who are meant; false if there are more than `to` has room for.
  template <class IsMeant>
  [[nodiscard]] bool take_outside_if(IsMeant const& is_meant, wake_batch& to) noexcept {
    std::lock_guard const lock(outside_mutex_);
    for (external_event* g = outside_; g;) {
      external_event* const next = g->next_;
      if (!to.reserve_one()) return false;
      // Not const: it lies in the operation of a process.
      auto* const w = const_cast<external_waiter*>(g->who_waits());
      if (process* const p = w ? w->who.take_if(is_meant) : nullptr) {
        note_access(g, true);
        // Else somebody has just opened it: he finds nobody there, and takes it off (WAIT-5).
        if (g->withdraw(*w)) leave(*w);
        to.add(*p);
      }
      g = next;
    }
    return true;
  }
  /// That one.  Null if somebody else has taken it.
  [[nodiscard]] process* take_from(external_waiter& w) noexcept {
    std::lock_guard const lock(outside_mutex_);
    process* const p = w.who.take();
    if (!p) return nullptr;
    note_access(w.at, true);
    if (w.at->withdraw(w)) leave(w);  // as above
    return p;
  }
  /// While it is held no process is woken from outside, of those that wait there: so they may be
  /// looked at.
  [[nodiscard]] std::unique_lock<std::recursive_mutex> hold_outside() const noexcept {
    return std::unique_lock(outside_mutex_);
  }
  void open_outside() noexcept {
    std::lock_guard const lock(outside_mutex_);
    closed_ = false;
  }
  /// Those who wait must not outlive us.
  void drop_who_waits() noexcept {
    drop_who_waits_at_gates();
    while (process* const p = timers_.take_any()) (void)thunk(p);
    drop_who_waits_outside();
  }
  template <class F>
  void for_each_who_waits(F f) const {
    for_each_at_gates(f);
    timers_.for_each(f);
    std::lock_guard const lock(outside_mutex_);
    for (auto const* g = outside_; g; g = g->next_)
      if (auto const* const w = g->who_waits(); w && w->who.is_here()) f(w->who.who());
  }

  struct clock final : timers {
    explicit clock(waiting_room& r) noexcept : timers(r.has_several_threads()), room(r) {}
    void on_cut_off(process& p) noexcept override { room.make_ready(thunk(&p)); }
    waiting_room& room;
  };
  clock timers_{*this};
  bool has_virtual_time_ = false;

 private:
  [[noreturn, gnu::cold]] static void throw_occupied() {
    throw std::logic_error("weft: a process waits at this outside gate already: one may");
  }
  /// Waits there no more, under the lock.  Who would take the process has done so: it may end.
  void leave(external_waiter& w) noexcept {
    unlink(outside_, *w.at);
    --due_;
    // [11] release: the last that is done with it here, which its operation, when it ends without
    // the lock, sees [12].
    w.home_.store(nullptr, std::memory_order_release);
  }
  void drop_who_waits_outside() noexcept {
    for (detail::relax wait;; wait()) {
      process* waits = nullptr;
      {
        std::lock_guard const lock(outside_mutex_);
        closed_ = true;
        if (due_ == 0) return;
        for (external_event* g = outside_; g && !waits;) {
          external_event* const next = g->next_;
          if (external_waiter* const w = g->withdraw()) {
            waits = w->who.take();
            leave(*w);
          }
          g = next;
        }
      }
      // None: who has opened it is about to put him.
      if (waits) (void)thunk(waits);
    }
  }

  /// Recursive: what is put may fail, and that closes the outside gates.
  std::recursive_mutex mutable outside_mutex_;
  external_event* outside_ = nullptr;  // WAIT-2: at which somebody waits
  std::size_t due_ = 0;                // WAIT-2
  bool closed_ = false;                // WAIT-2: nobody is to wait any more
};

}  // namespace weft::detail

// See ~gate().
weft::external_event::~external_event() {
  detail::apply_events_at(this);
  if (auto* const home = home_.load(std::memory_order_acquire)) {  // [6]
    detail::note_access(this, true);
    home->ends(*this);
  }
  detail::note_destroyed(this);
}
void weft::external_event::open() {
  if (!detail::event_deferrer::of_thread) [[likely]]
    return open_now();
  detail::cause_event("the opening of a gate", this, [this] { open_now(); });
}
void weft::external_event::open_now() {
  detail::note_access(this, true);
  // [2] release: who goes on, or finds it open [1], sees what was done before.  acquire: with [3].
  std::uintptr_t const found = word_.exchange(opened, std::memory_order_acq_rel);
  if (found == nobody || found == opened) return;
  // Relaxed: written before the waiter was.
  home_.load(std::memory_order_relaxed)
      ->arrived(*reinterpret_cast<detail::external_waiter*>(found));
}
weft::detail::external_waiter::~external_waiter() {
  // [12] acquire: with [11] of wait_registry.hpp.
  if (auto* const home = home_.load(std::memory_order_acquire)) home->ends(*this);
}
