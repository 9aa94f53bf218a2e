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

class waiting_room : public gate_room {
  friend class post_office;
  friend class task_room;

 public:
  /// Whether nothing will come from outside.  Thread safe.
  [[nodiscard]] dry_test dry() const noexcept {
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

  using gate_room::ends;
  using gate_room::enter;
  /// The process waits there (EXTERNAL-2).  It is answered if the gate is open, and refused if nobody is to
  /// wait any more, or it `is_refused` (as at gates).  Throws std::logic_error if somebody waits
  /// there already.
  template <class IsRefused>
  [[nodiscard]] entering enter(at_outside_gate& w, IsRefused const& is_refused) {
    outside_gate& g = *w.at;
    std::lock_guard const lock(outside_mutex_);
    if (closed_ || is_refused(w.who.who())) return entering::refused;
    is_touched(&g, true);
    if (home_of(g)) throw_occupied();
    link(*this, outside_, g);
    ++due_;
    w.home_.store(this, std::memory_order_relaxed);  // relaxed: who looks without the lock set it
    if (!has_several_threads()) w.who.stands_at(process::stands::outside, &w);
    std::uintptr_t const found = g.enter(w);
    if (found == outside_gate::nobody) return entering::waits;
    leave(w);  // our caller has the process
    return entering::answered;
  }
  /// It was opened, and he waited there (WAIT-3, EXTERNAL-3).
  void arrived(at_outside_gate& w) {
    std::lock_guard const lock(outside_mutex_);
    outside_gate& g = *w.at;
    process* const p = w.who.take();
    spare_letter in = p ? std::move(w.spare) : nullptr;
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
      g.word_.store(outside_gate::word_of(w), std::memory_order_release);
      throw;
    }
  }
  void ends(outside_gate& g) noexcept {
    std::lock_guard const lock(outside_mutex_);
    at_outside_gate* const w = g.withdraw();
    process* const p = w ? w->who.take() : nullptr;
    spare_letter in = w ? std::move(w->spare) : nullptr;
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
  void ends(at_outside_gate& w) noexcept {
    process* cut_off = nullptr;
    {
      std::lock_guard const lock(outside_mutex_);
      if (home_of(w) && w.at->withdraw(w)) {
        is_touched(w.at, true);
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
  using gate_room::gate_room;
  using gate_room::take_from;
  ~waiting_room() = default;

  /// From any thread.  What it throws, it throws with the thunk as it was.
  virtual void put_from_outside(thunk& t) = 0;
  /// The same with memory that was made before: throws only what a backend does that reserves none.
  virtual void put_from_outside(thunk& t, spare_letter in) = 0;
  /// Throws bad_alloc.
  [[nodiscard]] virtual spare_letter reserve_put() = 0;

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
    for (outside_gate* g = outside_; g;) {
      outside_gate* const next = g->next_;
      if (at_outside_gate* const w = g->withdraw()) {  // else somebody has just opened it
        process* const p = w->who.take();
        leave(*w);
        if (p) make_cancelled(*p);
      }
      g = next;
    }
  }
  /// Those who are meant; false if there are more than `to` has room for.
  template <class IsMeant>
  [[nodiscard]] bool take_outside_if(IsMeant const& is_meant, taken_out& to) noexcept {
    std::lock_guard const lock(outside_mutex_);
    for (outside_gate* g = outside_; g;) {
      outside_gate* const next = g->next_;
      if (!to.has_room()) return false;
      // Not const: it lies in the operation of a process.
      auto* const w = const_cast<at_outside_gate*>(g->who_waits());
      if (process* const p = w ? w->who.take_if(is_meant) : nullptr) {
        is_touched(g, true);
        // Else somebody has just opened it: he finds nobody there, and takes it off (WAIT-5).
        if (g->withdraw(*w)) leave(*w);
        to.add(*p);
      }
      g = next;
    }
    return true;
  }
  /// That one.  Null if somebody else has taken it.
  [[nodiscard]] process* take_from(at_outside_gate& w) noexcept {
    std::lock_guard const lock(outside_mutex_);
    process* const p = w.who.take();
    if (!p) return nullptr;
    is_touched(w.at, true);
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
    void is_cut_off(process& p) noexcept override { room.make_ready(thunk(&p)); }
    waiting_room& room;
  };
  clock timers_{*this};
  bool has_virtual_time_ = false;

 private:
  [[noreturn, gnu::cold]] static void throw_occupied() {
    throw std::logic_error("weft: a process waits at this outside gate already: one may");
  }
  /// Waits there no more, under the lock.  Who would take the process has done so: it may end.
  void leave(at_outside_gate& w) noexcept {
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
        for (outside_gate* g = outside_; g && !waits;) {
          outside_gate* const next = g->next_;
          if (at_outside_gate* const w = g->withdraw()) {
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
  outside_gate* outside_ = nullptr;  // WAIT-2: at which somebody waits
  std::size_t due_ = 0;              // WAIT-2
  bool closed_ = false;              // WAIT-2: nobody is to wait any more
};

}  // namespace weft::detail

// See ~gate().
weft::outside_gate::~outside_gate() {
  detail::events_happen_at(this);
  if (auto* const home = home_.load(std::memory_order_acquire)) {  // [6]
    detail::is_touched(this, true);
    home->ends(*this);
  }
  detail::is_gone(this);
}
void weft::outside_gate::open() {
  if (!detail::event_keeper::of_thread) [[likely]]
    return open_now();
  detail::happens("the opening of a gate", this, [this] { open_now(); });
}
void weft::outside_gate::open_now() {
  detail::is_touched(this, true);
  // [2] release: who goes on, or finds it open [1], sees what was done before.  acquire: with [3].
  std::uintptr_t const found = word_.exchange(opened, std::memory_order_acq_rel);
  if (found == nobody || found == opened) return;
  // Relaxed: written before the waiter was.
  home_.load(std::memory_order_relaxed)
      ->arrived(*reinterpret_cast<detail::at_outside_gate*>(found));
}
weft::detail::at_outside_gate::~at_outside_gate() {
  // [12] acquire: with [11] of wait_registry.hpp.
  if (auto* const home = home_.load(std::memory_order_acquire)) home->ends(*this);
}
