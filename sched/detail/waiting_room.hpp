// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "sched/backend.hpp"
#include "sched/detail/gate_room.hpp"
#include "sched/detail/relax.hpp"
#include "sched/detail/timers.hpp"
#include "sched/errors.hpp"
#include "sched/outside_gate.hpp"
#include "sched/process.hpp"
#include "sched/thunk.hpp"

/// Where the processes of a scheduler wait: at gates and outside gates, and for a time to come.
///
///   R2  The list of outside gates and `due_`, their number, are touched under `outside_mutex_`,
///       always.
///   R3  Who is woken from outside is put and no longer due in one step, as seen by who asks
///       whether something is due: he asks under the same lock.  So none is ever both, or neither;
///       and the scheduler, which cannot end before he has asked, is there until the step is done.
///   R4  A process enters a list before it is fully asleep.  Its backend, which is told before and
///       after, waits for it when it is put (process_state.hpp).
namespace weft::detail {

class waiting_room : public gate_room {
  friend class post_office;

 public:
  /// Whether nothing will come from outside.  Thread safe.
  [[nodiscard]] dry_test dry() const noexcept {
    return {[](void const* room) {
              auto const& here = *static_cast<waiting_room const*>(room);
              if (!here.has_virtual_time_ && !here.timers_.empty()) return false;
              std::lock_guard const lock(here.outside_mutex_);  // R3
              return here.due_ == 0;
            },
            this};
  }

  // ---- outside gates

  using gate_room::ends;
  using gate_room::enter;
  /// The process waits there (O2).  False if it is open, or nobody is to wait any more.  Throws
  /// std::logic_error if somebody waits there already.
  [[nodiscard]] bool enter(outside_gate& g, process& p) {
    std::lock_guard const lock(outside_mutex_);
    if (closed_) return false;
    if (home_of(g)) throw_occupied();
    link(*this, outside_, g);
    ++due_;
    std::uintptr_t const found = g.enter(p);
    if (found == outside_gate::nobody) return true;
    unlink(outside_, g);
    --due_;
    return false;
  }
  /// It was opened, and he waited there (R3, O3).
  void arrived(outside_gate& g, process& p) {
    std::lock_guard const lock(outside_mutex_);
    unlink(outside_, g);
    thunk t(&p);
    try {
      put_from_outside(t);
    } catch (...) {
      link(*this, outside_, g);
      // Release: as when it entered.
      g.word_.store(outside_gate::word_of(*t.release()), std::memory_order_release);
      throw;
    }
    --due_;
  }
  void ends(outside_gate& g) noexcept {
    std::lock_guard const lock(outside_mutex_);
    if (process* const p = g.withdraw()) {
      unlink(outside_, g);
      cancel(*p);
      thunk t(p);
      try {
        put_from_outside(t);  // who ends it may be anyone
      } catch (...) {         // no memory: then let us hope that it is one of us
        make_ready(std::move(t));
      }
      --due_;
    }
  }

 protected:
  using gate_room::gate_room;
  ~waiting_room() = default;

  /// From any thread.  What it throws, it throws with the thunk as it was.
  virtual void put_from_outside(thunk& t) = 0;

  /// At gates, or for a time to come.
  [[nodiscard]] bool somebody_waits_here() const noexcept {
    return somebody_waits_at_gates() || timers_.somebody_is_there();
  }
  [[nodiscard]] bool somebody_waits_outside() const noexcept {
    std::lock_guard const lock(outside_mutex_);
    return due_ != 0;
  }
  void wake_all_sleepers() noexcept {
    while (process* const p = timers_.take_any()) make_ready(thunk(p));
  }

  /// From now on nobody waits for what is outside.
  void close_outside() noexcept {
    std::lock_guard const lock(outside_mutex_);
    closed_ = true;
    for (outside_gate* g = outside_; g;) {
      outside_gate* const next = g->next_;
      if (process* const p = g->withdraw()) {  // else somebody has just opened it
        unlink(outside_, *g);
        make_ready(thunk(p));
        --due_;
      }
      g = next;
    }
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
      if (auto const* const p = g->who_waits()) f(*p);
  }

  struct clock final : timers {
    explicit clock(waiting_room& r) noexcept : room(r) {}
    void is_cut_off(process& p) noexcept override { room.make_ready(thunk(&p)); }
    waiting_room& room;
  };
  clock timers_{*this};
  bool has_virtual_time_ = false;

 private:
  [[noreturn, gnu::cold]] static void throw_occupied() {
    throw std::logic_error("weft: a process waits at this outside gate already: one may");
  }
  void drop_who_waits_outside() noexcept {
    for (detail::relax wait;; wait()) {
      process* waits = nullptr;
      {
        std::lock_guard const lock(outside_mutex_);
        closed_ = true;
        if (due_ == 0) return;
        for (outside_gate* g = outside_; g && !waits; g = g->next_)
          if ((waits = g->withdraw())) {
            unlink(outside_, *g);
            --due_;
          }
      }
      // None: who has opened it is about to put him.
      if (waits) (void)thunk(waits);
    }
  }

  /// Recursive: what is put may fail, and that closes the outside gates.
  std::recursive_mutex mutable outside_mutex_;
  outside_gate* outside_ = nullptr;  // R2: at which somebody waits
  std::size_t due_ = 0;              // R2
  bool closed_ = false;              // R2: nobody is to wait any more
};

}  // namespace weft::detail

// See ~gate().
weft::outside_gate::~outside_gate() {
  if (auto* const home = home_.load(std::memory_order_acquire)) home->ends(*this);  // [6]
}
void weft::outside_gate::open() {
  // [2] release: who goes on, or finds it open [1], sees what was done before.  acquire: with [3].
  std::uintptr_t const found = word_.exchange(opened, std::memory_order_acq_rel);
  if (found == nobody || found == opened) return;
  // Relaxed: written before the process was.
  home_.load(std::memory_order_relaxed)->arrived(*this, *reinterpret_cast<process*>(found));
}
