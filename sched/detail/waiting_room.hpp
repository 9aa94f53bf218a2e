// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "sched/backend.hpp"
#include "sched/detail/relax.hpp"
#include "sched/errors.hpp"
#include "sched/gate.hpp"
#include "sched/outside_gate.hpp"
#include "sched/process.hpp"
#include "sched/thunk.hpp"

/// Where the processes of a scheduler wait.
///
///   R1  Gates, and the list of those at which somebody waits, are touched under `gates_mutex_`, if
///       the scheduler has several threads.
///   R2  The list of outside gates and `due_`, their number, are touched under `outside_mutex_`,
///       always.
///   R3  Who is woken from outside is put and no longer due in one step, as seen by who asks
///       whether something is due: he asks under the same lock.  So none is ever both, or neither;
///       and the scheduler, which cannot end before he has asked, is there until the step is done.
///   R4  A process enters a list before it is fully asleep.  Its backend, which is told before and
///       after, waits for it when it is put (process_state.hpp).
namespace weft::detail {

class waiting_room {
 public:
  waiting_room(waiting_room const&) = delete;
  waiting_room& operator=(waiting_room const&) = delete;

  /// Whether nothing will come from outside.  Thread safe.
  [[nodiscard]] dry_test dry() const noexcept {
    return {[](void const* room) {
              auto const& here = *static_cast<waiting_room const*>(room);
              std::lock_guard const lock(here.outside_mutex_);  // R3
              return here.due_ == 0;
            },
            this};
  }

  // ---- gates

  /// The process, whose count it takes over, waits there.  False if somebody woke it since then.
  /// Throws std::logic_error if those who wait there are not ours; bad_alloc.
  [[nodiscard]] bool enter(gate& g, std::optional<std::uint64_t> seen, process& p) {
    auto const lock = lock_gates();
    require_ours(g);
    // Relaxed: written under this lock.
    if (seen && *seen != g.epoch_.load(std::memory_order_relaxed)) return false;
    g.waiting_.emplace_back(&p);
    count(g);
    if (g.waiting_.size() == 1) link(gates_, g);
    return true;
  }
  void wake(gate& g, std::size_t most) {
    auto const lock = lock_gates();
    require_ours(g);
    // release: who finds the number greater [1] sees what was done before the wake.
    g.epoch_.fetch_add(1, std::memory_order_release);
    for (std::size_t n = std::min(most, g.waiting_.size()); n; --n) make_ready(leave(g));
  }
  void ends(gate& g) noexcept {
    auto const lock = lock_gates();
    while (g.waiting()) {
      thunk t = leave(g);
      cancel(*t.get());
      make_ready(std::move(t));
    }
  }

  // ---- outside gates

  /// The process waits there (O2).  False if it is open, or nobody is to wait any more.  Throws
  /// std::logic_error if somebody waits there already.
  [[nodiscard]] bool enter(outside_gate& g, process& p) {
    std::lock_guard const lock(outside_mutex_);
    if (closed_) return false;
    if (home_of(g)) throw_occupied();
    link(outside_, g);
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
      link(outside_, g);
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
  explicit waiting_room(bool several_threads) noexcept : several_threads_(several_threads) {}
  ~waiting_room() = default;

  /// Somebody may run: on a thread of ours, or when none of them runs.
  virtual void make_ready(thunk t) noexcept = 0;
  /// From any thread.  What it throws, it throws with the thunk as it was.
  virtual void put_from_outside(thunk& t) = 0;

  [[nodiscard]] bool has_several_threads() const noexcept { return several_threads_; }
  /// At a gate.
  [[nodiscard]] bool somebody_waits() const noexcept { return gates_ != nullptr; }
  /// At gates of either kind.
  [[nodiscard]] bool somebody_waits_anywhere() const noexcept {
    if (gates_) return true;
    std::lock_guard const lock(outside_mutex_);
    return due_ != 0;
  }

  void wake_all_at_gates() noexcept {
    auto const lock = lock_gates();
    while (gates_) make_ready(leave(*gates_));
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
    while (gates_) (void)leave(*gates_);
    drop_who_waits_outside();
  }
  [[nodiscard]] std::string who_waits() const {
    auto const all = all_who_wait();
    if (all.empty()) return "a process waits at an outside gate that is just being opened";
    return "process " + all.front().process.text() + " waits in " + all.front().what;
  }
  [[nodiscard]] std::vector<deadlock::waiter> all_who_wait() const {
    std::vector<deadlock::waiter> all;
    auto const add = [&all](process const& p) { all.push_back({p.id(), p.waits_at_text()}); };
    for (auto const* g = gates_; g; g = g->next_)
      for (auto const& t : g->waiting_) add(*t.get());
    std::lock_guard const lock(outside_mutex_);
    for (auto const* g = outside_; g; g = g->next_)
      if (auto const* const p = g->who_waits()) add(*p);
    std::ranges::sort(all, {}, &deadlock::waiter::process);
    return all;
  }

 private:
  [[nodiscard]] std::unique_lock<std::mutex> lock_gates() noexcept {
    if (several_threads_) return std::unique_lock(gates_mutex_);
    return {};
  }
  /// For us, who have the lock.
  template <class Gate>
  static waiting_room* home_of(Gate const& g) noexcept {
    return g.home_.load(std::memory_order_relaxed);  // relaxed: R1, R2
  }
  void require_ours(gate const& g) const {
    if (home_of(g) && home_of(g) != this)
      throw std::logic_error("weft: processes of another scheduler wait at this gate");
  }
  [[noreturn, gnu::cold]] static void throw_occupied() {
    throw std::logic_error("weft: a process waits at this outside gate already: one may");
  }
  static void cancel(process& p) noexcept {
    if (p.is_waiting())  // else a handler round it has ended, and it waits for nothing
      p.fail(std::make_exception_ptr(cancelled()));
  }

  template <class Gate>
  void link(Gate*& first, Gate& g) noexcept {
    g.home_.store(this, std::memory_order_relaxed);  // relaxed: who finds it takes the lock
    g.previous_ = nullptr;
    g.next_ = std::exchange(first, &g);
    if (g.next_) g.next_->previous_ = &g;
  }
  template <class Gate>
  static void unlink(Gate*& first, Gate& g) noexcept {
    (g.previous_ ? g.previous_->next_ : first) = g.next_;
    if (g.next_) g.next_->previous_ = g.previous_;
    // [5] release: the last that is done with it here, which who ends it without the lock sees [6].
    g.home_.store(nullptr, std::memory_order_release);
  }
  static void count(gate& g) noexcept {
    g.count_.store(g.waiting_.size(), std::memory_order_relaxed);  // relaxed: R1
  }
  /// Who waits there longest.  Somebody does.
  thunk leave(gate& g) noexcept {
    thunk t = std::move(g.waiting_.front());
    g.waiting_.pop_front();
    count(g);
    if (g.waiting_.empty()) unlink(gates_, g);
    return t;
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

  bool const several_threads_;
  std::mutex gates_mutex_;
  gate* gates_ = nullptr;  // R1: at which somebody waits
  /// Recursive: what is put may fail, and that closes the outside gates.
  std::recursive_mutex mutable outside_mutex_;
  outside_gate* outside_ = nullptr;  // R2: at which somebody waits
  std::size_t due_ = 0;              // R2
  bool closed_ = false;              // R2: nobody is to wait any more
};

}  // namespace weft::detail

// Of those who were woken together the first may end it, while the others are still taken out.
weft::gate::~gate() {
  // [6] acquire: with [5].
  if (auto* const home = home_.load(std::memory_order_acquire)) home->ends(*this);
}
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
