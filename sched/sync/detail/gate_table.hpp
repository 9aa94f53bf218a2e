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

#include "weft/sched/base/detail/ready_sink.hpp"
#include "weft/sched/base/errors.hpp"
#include "weft/sched/base/process.hpp"
#include "weft/sched/base/thunk.hpp"
#include "weft/sched/sync/detail/waiter.hpp"
#include "weft/sched/sync/detail/wake_batch.hpp"
#include "weft/sched/sync/gate.hpp"

namespace weft::detail {

/// The gates at which processes of a scheduler wait for one another.
///
///   GATE-1  If the scheduler has several threads, gates and the list of gates with waiters are
///       accessed under `mutex_` only.
///   GATE-2  A gate is on the list exactly while a process waits at it; `gate::home_` is this table
///       then, and null otherwise.
///
/// Entering, leaving and waking one process are O(1).  Nothing is allocated.
class gate_table final : public gate_home {
 public:
  /// `wakes`: 1 if a release wakes the longest waiting process only; else it wakes all that could
  /// be first (wake_candidates()).
  gate_table(ready_sink& sink, bool several_threads, unsigned wakes) noexcept
      : sink_(sink), several_threads_(several_threads), wakes_(wakes) {}
  gate_table(gate_table const&) = delete;
  gate_table& operator=(gate_table const&) = delete;
  ~gate_table() = default;

  /// Enters the waiter, which holds its process, at its gate.  Another party, such as an alarm, may
  /// have taken the process by now.  The wait is `answered` if the gate was woken since the epoch
  /// `seen`, and `refused` if `is_refused(process const&)` is true, which is called under the lock
  /// (CANCEL-2).  Throws std::logic_error if processes of another scheduler wait there.
  template <class IsRefused>
  [[nodiscard]] wait_entry enter(gate_waiter& w, std::optional<std::uint64_t> seen,
                                 IsRefused const& is_refused) {
    gate& g = *w.at;
    auto const locked = lock();
    require_ours(g);
    note_access(&g, w.is_in_line);
    if (is_refused(w.parked.waiting_process())) return wait_entry::refused;
    if (!g.first_) link(g);
    // [7] seq_cst: pairs with [8] of gate.hpp.  This process sets the home before it reads the
    // epoch; a release changes the epoch before it reads the home.  So either the release sees the
    // home, or this process sees the new epoch.
    if (seen && *seen != g.epoch_.load(std::memory_order_seq_cst)) {
      if (!g.first_) unlink(g);
      return wait_entry::answered;
    }
    w.home_.store(this, std::memory_order_relaxed);  // relaxed: only its process reads it unlocked
    w.previous_ = std::exchange(g.last_, &w);
    w.next_ = nullptr;
    (w.previous_ ? w.previous_->next_ : g.first_) = &w;
    count(g, 1);
    if (!several_threads_) w.parked.set_wait_place(process::wait_place::gate, &w);
    return wait_entry::waits;
  }
  /// Wakes the `most` longest waiting processes.  Throws std::logic_error as enter() does.
  void wake(gate& g, std::size_t most) {
    auto const locked = lock();
    require_ours(g);
    note_access(&g, true);
    // [2] release: pairs with [1] of gate.hpp: a process that finds a greater epoch sees what was
    // done before the wake.
    g.epoch_.fetch_add(1, std::memory_order_release);
    wake_longest_waiting(g, most);
  }
  /// Takes that waiter off its list.  Returns its process, or null if another party has taken it.
  [[nodiscard]] process* take(gate_waiter& w) noexcept {
    auto const locked = lock();
    if (!w.home_.load(std::memory_order_relaxed)) return nullptr;  // relaxed: set under the lock
    note_access(w.at, true);
    return leave(w);
  }
  /// Takes the processes for which `is_meant(process const&)` is true, and adds them to `to`.
  /// False if `to` has no room for all of them; then some are left.
  template <class IsMeant>
  [[nodiscard]] bool take_if(IsMeant const& is_meant, wake_batch& to) noexcept {
    auto const locked = lock();
    for (gate* g = gates_; g;) {
      gate* const next_gate = g->next_;  // read now: a gate without waiters goes off the list
      for (gate_waiter* w = g->first_; w;) {
        gate_waiter* const next = w->next_;
        if (!to.reserve_one()) return false;
        if (process* const p = w->parked.take_if(is_meant)) {
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
  /// Cancels the wait of every process here.
  void cancel_all() noexcept {
    auto const locked = lock();
    while (gates_)
      if (process* const p = leave(*gates_->first_)) sink_.make_cancelled(*p);
  }
  /// Called when the scheduler ends: drops every process that waits here.
  void drop_all() noexcept {
    while (gates_)
      if (process* const p = leave(*gates_->first_)) (void)thunk(p);
  }
  [[nodiscard]] bool has_waiters() const noexcept { return gates_ != nullptr; }
  /// Calls `f(process const&, gate const*)` for each process that waits.  Called while no process
  /// runs.
  template <class F>
  void for_each_waiter(F f) const {
    for (auto const* g = gates_; g; g = g->next_)
      for (auto const* w = g->first_; w; w = w->next_)
        if (w->parked.is_waiting()) f(w->parked.waiting_process(), g);
  }

 private:
  void on_release(gate& g, bool to_all) noexcept override {
    auto const locked = lock();
    if (home_of(g) != this) return;
    if (to_all || wakes_ == 1) return wake_longest_waiting(g, to_all ? ~std::size_t{0} : 1);
    wake_candidates(g);
  }
  void on_end(gate& g) noexcept override {
    auto const locked = lock();
    while (g.first_)
      if (process* const p = leave(*g.first_)) {
        fail_cancelled(*p);
        sink_.make_ready(thunk(p, 1));
      }
  }
  void on_end(gate_waiter& w) noexcept override {
    process* cut_off = nullptr;
    {
      auto const locked = lock();
      if (w.home_.load(std::memory_order_relaxed)) cut_off = leave(w);  // relaxed: under the lock
    }
    // The process still waits, and only the frames inside a handler were unwound, with the
    // operation: it is put, and finds that the handler has ended.
    if (cut_off) sink_.make_ready(thunk(cut_off));
  }

  [[nodiscard]] std::unique_lock<std::mutex> lock() noexcept {
    if (several_threads_) return std::unique_lock(mutex_);
    return {};
  }

  // ---- called under the lock

  static gate_home* home_of(gate const& g) noexcept {
    return g.home_.load(std::memory_order_relaxed);  // relaxed: under the lock (GATE-1)
  }
  void require_ours(gate const& g) const {
    if (home_of(g) && home_of(g) != this)
      throw std::logic_error("weft: processes of another scheduler wait at this gate");
  }
  void link(gate& g) noexcept {
    // [7] seq_cst: as in enter().  A release that finds this home takes the lock.
    g.home_.store(this, std::memory_order_seq_cst);
    g.previous_ = nullptr;
    g.next_ = std::exchange(gates_, &g);
    if (g.next_) g.next_->previous_ = &g;
  }
  void unlink(gate& g) noexcept {
    (g.previous_ ? g.previous_->next_ : gates_) = g.next_;
    if (g.next_) g.next_->previous_ = g.previous_;
    // [5] release: the last access to the gate here.  ~gate() reads this null without the lock, and
    // then sees all accesses before ([6] of gate.hpp).
    g.home_.store(nullptr, std::memory_order_release);
  }
  static void count(gate& g, int more) noexcept {
    // relaxed: written under the lock (GATE-1).
    g.count_.store(g.count_.load(std::memory_order_relaxed) + static_cast<std::size_t>(more),
                   std::memory_order_relaxed);
  }
  void wake_longest_waiting(gate& g, std::size_t most) noexcept {
    for (bool is_last = !g.first_; most && !is_last;) {
      is_last = !g.first_->next_;  // read now: the last process that waited may destroy the gate
      if (process* const p = leave(*g.first_)) {
        sink_.make_ready(thunk(p, 1));
        --most;
      }
    }
  }
  /// Wakes the longest waiting process, and all others that do not wait in line: any of them could
  /// be first.
  void wake_candidates(gate& g) noexcept {
    bool has_first = false;
    for (gate_waiter *w = g.first_, *next = nullptr; w; w = next) {
      next = w->next_;  // read now, as above
      if (w->is_in_line && has_first) continue;
      if (process* const p = leave(*w)) {
        sink_.make_ready(thunk(p, 1));
        has_first = true;
      }
    }
  }
  /// Takes the waiter off the list.  Returns its process, or null if another party has taken it
  /// (WAITER-1).
  [[nodiscard]] process* leave(gate_waiter& w) noexcept {
    gate& g = *w.at;
    process* const p = w.parked.take();
    (w.previous_ ? w.previous_->next_ : g.first_) = w.next_;
    (w.next_ ? w.next_->previous_ : g.last_) = w.previous_;
    count(g, -1);
    if (!g.first_) unlink(g);
    // [9] release: the last access to the waiter here.  Its destructor reads this null without the
    // lock, and then sees all accesses before ([10] of gate.hpp).
    w.home_.store(nullptr, std::memory_order_release);
    return p;
  }

  ready_sink& sink_;
  bool const several_threads_;
  unsigned const wakes_;
  std::mutex mutex_;
  gate* gates_ = nullptr;  // the gates with waiters (GATE-2)
};

}  // namespace weft::detail
