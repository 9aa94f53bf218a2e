// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <utility>

#include "sched/base/errors.hpp"
#include "sched/base/process.hpp"
#include "sched/base/thunk.hpp"
#include "sched/sync/detail/waiter.hpp"
#include "sched/sync/detail/wake_batch.hpp"
#include "sched/sync/gate.hpp"

/// Where the processes of a scheduler wait for one another.
///
///   WAIT-1  Gates, and the list of those at which somebody waits, are touched under `mutex_`, if the
///       scheduler has several threads.
namespace weft::detail {

class gate_table {
 public:
  gate_table(gate_table const&) = delete;
  gate_table& operator=(gate_table const&) = delete;

  /// Its process, unless it has been taken by now, waits at its gate.  It is answered if that was
  /// woken since then, and refused if it `is_refused(process const&)`, which is asked under the
  /// lock (CANCEL-2 of wake_if.hpp).  Throws std::logic_error if those who wait there are not ours.
  template <class IsRefused>
  [[nodiscard]] entering enter(gate_waiter& who, std::optional<std::uint64_t> seen,
                               IsRefused const& is_refused) {
    gate& g = *who.at;
    auto const lock = lock_gates();
    require_ours(g);
    note_access(&g, who.is_in_line);
    if (is_refused(who.who.who())) return entering::refused;
    if (!g.first_) link(*this, gates_, g);
    // [7] seq_cst: with [8].  Who gives something back and sees nobody here is seen by us.
    if (seen && *seen != g.epoch_.load(std::memory_order_seq_cst)) {
      if (!g.first_) unlink(gates_, g);
      return entering::answered;
    }
    who.home_.store(this, std::memory_order_relaxed);  // relaxed: who looks without the lock set it
    who.previous_ = std::exchange(g.last_, &who);
    who.next_ = nullptr;
    (who.previous_ ? who.previous_->next_ : g.first_) = &who;
    count(g, 1);
    if (!several_threads_) who.who.stands_at(process::stands::gate_waiter, &who);
    return entering::waits;
  }
  void wake(gate& g, std::size_t most) {
    auto const lock = lock_gates();
    require_ours(g);
    note_access(&g, true);
    // [2] release: who finds the number greater [1] sees what was done before the wake.
    g.epoch_.fetch_add(1, std::memory_order_release);
    wake_under_lock(g, most);
  }
  /// What they wait for was given back.
  void released(gate& g, bool to_all) noexcept {
    auto const lock = lock_gates();
    if (home_of(g) != this) return;
    if (to_all || wakes_ == 1) return wake_under_lock(g, to_all ? ~std::size_t{0} : 1);
    wake_who_may_have_it(g);
  }
  void ends(gate& g) noexcept {
    auto const lock = lock_gates();
    while (g.first_)
      if (process* const p = leave(*g.first_)) {
        cancel(*p);
        make_ready(thunk(p, 1));
      }
  }
  /// Goes on for another reason, or is unwound.
  void ends(gate_waiter& who) noexcept {
    process* cut_off = nullptr;
    {
      auto const lock = lock_gates();
      if (who.home_.load(std::memory_order_relaxed)) cut_off = leave(who);  // relaxed: WAIT-1
    }
    // Unwound with the handler round it: it is to find that out.
    if (cut_off) make_ready(thunk(cut_off));
  }

 protected:
  /// `wakes`: how many of those who wait for something that is given back look whether they get it.
  gate_table(bool several_threads, unsigned wakes) noexcept
      : several_threads_(several_threads), wakes_(wakes) {}
  ~gate_table() = default;

  /// Somebody may run: on a thread of ours, or when none of them runs.
  virtual void make_ready(thunk t) noexcept = 0;

  /// The same of a process whose wait is cancelled.
  void make_cancelled(process& p) noexcept {
    p.must_be_told();
    make_ready(thunk(&p));
  }

  [[nodiscard]] bool has_several_threads() const noexcept { return several_threads_; }
  [[nodiscard]] bool somebody_waits_at_gates() const noexcept { return gates_ != nullptr; }
  void wake_all_at_gates() noexcept {
    auto const lock = lock_gates();
    while (gates_)
      if (process* const p = leave(*gates_->first_)) make_cancelled(*p);
  }
  /// Those who are meant; false if there are more than `to` has room for.
  template <class IsMeant>
  [[nodiscard]] bool take_at_gates_if(IsMeant const& is_meant, wake_batch& to) noexcept {
    auto const lock = lock_gates();
    for (gate* g = gates_; g;) {
      gate* const next_gate = g->next_;  // now: with the last who waits there it goes off the list
      for (gate_waiter* w = g->first_; w;) {
        gate_waiter* const next = w->next_;
        if (!to.reserve_one()) return false;
        if (process* const p = w->who.take_if(is_meant)) {
          note_access(g, true);
          (void)leave(*w);
          to.add(*p);
        }
        w = next;
      }
      g = next_gate;
    }
    return true;
  }

  /// That one.  Null if somebody else has taken it.
  [[nodiscard]] process* take_from(gate_waiter& who) noexcept {
    auto const lock = lock_gates();
    note_access(who.at, true);
    return leave(who);
  }

  // ---- lists of gates, of either kind

  /// For us, who have the lock.
  template <class Gate>
  static auto home_of(Gate const& g) noexcept -> decltype(g.home_.load()) {
    return g.home_.load(std::memory_order_relaxed);  // relaxed: WAIT-1, WAIT-2
  }
  /// `Room`: what home this kind of gate has.
  template <class Room, class Gate>
  static void link(Room& home, Gate*& first, Gate& g) noexcept {
    // [7] seq_cst, for gates: see enter().  Who finds it takes the lock.
    g.home_.store(&home, std::memory_order_seq_cst);
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
  static void cancel(process& p) noexcept {
    if (p.is_waiting())  // else a handler round it has ended, and it waits for nothing
      p.fail(std::make_exception_ptr(cancelled()));
  }

  template <class F>
  void for_each_at_gates(F f) const {
    for (auto const* g = gates_; g; g = g->next_)
      for (auto const* w = g->first_; w; w = w->next_)
        if (w->who.is_here()) f(w->who.who(), g);
  }
  void drop_who_waits_at_gates() noexcept {
    while (gates_)
      if (process* const p = leave(*gates_->first_)) (void)thunk(p);
  }

 private:
  [[nodiscard]] std::unique_lock<std::mutex> lock_gates() noexcept {
    if (several_threads_) return std::unique_lock(mutex_);
    return {};
  }
  void require_ours(gate const& g) const {
    if (home_of(g) && home_of(g) != this)
      throw std::logic_error("weft: processes of another scheduler wait at this gate");
  }
  static void count(gate& g, int more) noexcept {
    // Relaxed: WAIT-1.
    g.count_.store(g.count_.load(std::memory_order_relaxed) + static_cast<std::size_t>(more),
                   std::memory_order_relaxed);
  }
  void wake_under_lock(gate& g, std::size_t most) noexcept {
    for (bool is_last = !g.first_; most && !is_last;) {
      is_last = !g.first_->next_;  // looked at now: who was the last to wait there may end it
      if (process* const p = leave(*g.first_)) {
        make_ready(thunk(p, 1));
        --most;
      }
    }
  }
  /// The longest waiting, and all of those who do not wait in line: any of them could be first.
  void wake_who_may_have_it(gate& g) noexcept {
    bool has_first = false;
    for (gate_waiter *w = g.first_, *next = nullptr; w; w = next) {
      next = w->next_;  // looked at now: as above
      if (w->is_in_line && has_first) continue;
      if (process* const p = leave(*w)) {
        make_ready(thunk(p, 1));
        has_first = true;
      }
    }
  }
  /// Waits there no more.  The process, if nobody else has taken it (waiter.hpp).
  [[nodiscard]] process* leave(gate_waiter& who) noexcept {
    gate& g = *who.at;
    process* const p = who.who.take();
    (who.previous_ ? who.previous_->next_ : g.first_) = who.next_;
    (who.next_ ? who.next_->previous_ : g.last_) = who.previous_;
    count(g, -1);
    if (!g.first_) unlink(gates_, g);
    // [9] release: the last that is done with it here, which its operation, when it ends without
    // the lock, sees [10].
    who.home_.store(nullptr, std::memory_order_release);
    return p;
  }

  bool const several_threads_;
  unsigned const wakes_;
  std::mutex mutex_;
  gate* gates_ = nullptr;  // WAIT-1: at which somebody waits
};

}  // namespace weft::detail

// Of those who were woken together the first may end it, while the others are still taken out.
weft::gate::~gate() {
  detail::apply_events_at(this);
  // [6] acquire: with [5].
  if (auto* const home = home_.load(std::memory_order_acquire)) {
    detail::note_access(this, true);
    home->ends(*this);
  }
  detail::note_destroyed(this);
}
weft::detail::gate_waiter::~gate_waiter() {
  if (is_timed) note_access(at, false);  // also if a wake that came late has taken it off
  // [10] acquire: with [9].
  if (auto* const home = home_.load(std::memory_order_acquire)) home->ends(*this);
}
void weft::gate::release() noexcept {
  detail::cause_event("the release of a gate", this, [this] { release_now(); });
}
void weft::gate::release_all() noexcept {
  detail::cause_event("the release of a gate", this, [this] { release_all_now(); });
}
void weft::gate::release_now() noexcept {
  detail::note_access(this, true);
  // [8] seq_cst: with [7].  release: who finds the number greater [1] sees what was done before.
  epoch_.fetch_add(1, std::memory_order_seq_cst);
  if (auto* const home = home_.load(std::memory_order_seq_cst)) home->released(*this, false);
}
void weft::gate::release_all_now() noexcept {
  detail::note_access(this, true);
  epoch_.fetch_add(1, std::memory_order_seq_cst);  // [8], as above
  if (auto* const home = home_.load(std::memory_order_seq_cst)) home->released(*this, true);
}
