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
    // [7] seq_cst: pairs with [8] of gate.cpp.  This process sets the home before it reads the
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
    return wait_entry::waits;
  }
  /// Wakes the `most` longest waiting processes.  Throws std::logic_error as enter() does.
  void wake(gate& g, std::size_t most);
  /// Takes that waiter off its list.  Returns its process, or null if another party has taken it.
  [[nodiscard]] process* take(gate_waiter& w) noexcept;
  /// Cancels the wait of every process here.
  void cancel_all() noexcept;
  /// Called when the scheduler ends: drops every process that waits here.
  void drop_all() noexcept;
  [[nodiscard]] bool has_waiters() const noexcept { return gates_ != nullptr; }
  /// Calls `f(process const&, gate const*)` for each process that waits.
  template <class F>
  void for_each_waiter(F f) {
    auto const locked = lock();
    for (auto const* g = gates_; g; g = g->next_)
      for (auto* w = g->first_; w; w = w->next_) w->parked.look([&](process const& p) { f(p, g); });
  }

 private:
  void on_release(gate& g, bool to_all) noexcept override;
  void on_end(gate& g) noexcept override;
  void on_end(gate_waiter& w) noexcept override;

  [[nodiscard]] std::unique_lock<std::mutex> lock() noexcept {
    if (several_threads_) return std::unique_lock(mutex_);
    return {};
  }

  // ---- called under the lock

  static gate_home* home_of(gate const& g) noexcept {
    return g.home_.load(std::memory_order_relaxed);  // relaxed: under the lock (GATE-1)
  }
  void require_ours(gate const& g) const;
  void link(gate& g) noexcept;
  void unlink(gate& g) noexcept;
  static void count(gate& g, int more) noexcept {
    // relaxed: written under the lock (GATE-1).
    g.count_.store(g.count_.load(std::memory_order_relaxed) + static_cast<std::size_t>(more),
                   std::memory_order_relaxed);
  }
  void wake_longest_waiting(gate& g, std::size_t most) noexcept;
  /// Wakes the longest waiting process, and all others that do not wait in line: any of them could
  /// be first.
  void wake_candidates(gate& g) noexcept;
  /// Takes the waiter off the list.  Returns its process, or null if another party has taken it
  /// (WAITER-1).
  [[nodiscard]] process* leave(gate_waiter& w) noexcept;

  ready_sink& sink_;
  bool const several_threads_;
  unsigned const wakes_;
  std::mutex mutex_;
  gate* gates_ = nullptr;  // the gates with waiters (GATE-2)
};

}  // namespace weft::detail
