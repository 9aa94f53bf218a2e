// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "weft/sched/base/backend.hpp"
#include "weft/sched/base/detail/ready_sink.hpp"
#include "weft/sched/sync/detail/waiter.hpp"

/// The alarms of waiting processes, in one heap for each scheduler: so no thread sleeps on behalf
/// of a single process.
namespace weft::detail {

class timers;

/// The latest instant at which a process is to be woken.  An alarm lies beside the waiter, most
/// often in the process's operation; its destructor takes it off the heap.
class alarm {
 public:
  alarm(instant t, waiter& w) noexcept : at_(t), parked_(&w) {}
  alarm(alarm const&) = delete;  // the heap points to this object
  alarm& operator=(alarm const&) = delete;
  inline ~alarm();

  [[nodiscard]] instant at() const noexcept { return at_; }
  /// Changes the instant.  Called before the alarm is set.
  void at(instant t) noexcept { at_ = t; }

 private:
  friend class timers;
  instant at_;
  waiter* parked_;
  std::atomic<timers*> home_ = nullptr;  // set while this is on the heap; written under the lock
  std::size_t index_ = 0;                // the alarm's index in the heap; accessed under the lock
};

/// The alarms of a scheduler, the earliest first; alarms for the same instant in the order in which
/// they were set.
///
/// Setting an alarm and taking one off are O(log n); on average O(1) if the instants are random, or
/// each is later than those before.  docs/decisions/029-timers.md says why the alarms are in a
/// heap, and not in a timing wheel.  Thread safe.
///
///   TIMER-1  A heap: the alarm at i is not later than those at 4i + 1 to 4i + 4.  Each alarm knows
///       its index.
///   TIMER-2  On several threads the heap is accessed under one lock, by wakers and by processes
///       that go on (waiter.hpp, WAITER-2).
class timers {
 public:
  timers(ready_sink& sink, bool several_threads) noexcept;
  ~timers();
  timers(timers const&) = delete;
  timers& operator=(timers const&) = delete;

  /// Whether no alarm will ever be due.  A hint on several threads.
  [[nodiscard]] bool empty() const noexcept {
    return next_.load(std::memory_order_relaxed) == never;  // relaxed: a hint
  }
  /// Whether there is an alarm, counting those that are never due.  Called while no process runs.
  [[nodiscard]] bool has_waiters() const noexcept { return !heap_.empty(); }
  /// When the next alarm is due; instant::max() if there is none.  A hint on several threads.
  [[nodiscard]] instant next() const noexcept {
    return instant(instant::duration(next_.load(std::memory_order_relaxed)));  // relaxed: a hint
  }

  /// Sets an alarm.  Returns false, and sets nothing, if the timers are closed, or if
  /// `is_refused(process const&)` is true, which is called under the lock (CANCEL-2 of
  /// wait_registry.hpp).  Sets `is_next` to whether the alarm is now the first.  Throws bad_alloc.
  template <class IsRefused>
  [[nodiscard]] bool set(alarm& a, bool& is_next, IsRefused const& is_refused) {
    auto const locked = lock();
    if (closed_ || is_refused(a.parked_->waiting_process())) return false;
    is_next = insert(a);
    return true;
  }
  /// Takes off the heap an alarm whose process goes on for another reason, or is unwound.
  void remove(alarm& a) noexcept;
  /// Takes a process whose alarm is due and that has not been woken otherwise; null if there is
  /// none.
  [[nodiscard]] process* take_due(instant now) noexcept {
    return next() > now ? nullptr : take_first_due(now);
  }
  /// Takes a process, even if its alarm is not due yet.  Null if no process has an alarm.
  [[nodiscard]] process* take_any() noexcept { return take_due(instant::max()); }
  /// Cancels the wait of every process that has an alarm.
  void cancel_all() noexcept;
  /// Called when the scheduler ends: drops every process that has an alarm.
  void drop_all() noexcept;

  /// From now on set() refuses all alarms.
  void close() noexcept;
  void reopen() noexcept;
  /// Calls `f(process const&)` once for each process with an alarm, whether or not it waits for
  /// something else too.
  template <class F>
  void for_each_waiter(F const& f) const {
    auto const locked = lock();
    for (auto const& e : heap_) e.what->parked_->look(f);
  }

 private:
  static constexpr std::size_t branches = 4;  // TIMER-1: children of an alarm in the heap
  static constexpr instant::rep never = instant::max().time_since_epoch().count();
  struct entry {
    instant at;
    std::uint64_t order;
    alarm* what;
    [[nodiscard]] bool is_before(entry const& other) const noexcept {
      return at < other.at || (at == other.at && order < other.order);
    }
  };

  [[nodiscard]] std::unique_lock<std::mutex> lock() const noexcept {
    if (has_several_threads_) return std::unique_lock(mutex_);
    return {};
  }

  [[nodiscard]] process* take_first_due(instant now) noexcept;

  // ---- called under the lock

  /// Puts the alarm on the heap.  Returns whether it is now the first.  Throws bad_alloc.
  bool insert(alarm& a);
  void put(std::size_t i, entry const& e) noexcept;
  void rise(std::size_t i) noexcept;
  void sink_down(std::size_t i) noexcept;
  void remove_at(std::size_t i) noexcept;
  void note_next() noexcept;

  ready_sink& sink_;
  bool const has_several_threads_;
  std::mutex mutable mutex_;
  std::vector<entry> heap_;  // TIMER-1: the earliest alarm is first
  std::uint64_t set_ = 0;    // how many alarms were set so far
  bool closed_ = false;
  std::atomic<instant::rep> next_ = never;
};

inline alarm::~alarm() {
  // [2] acquire: pairs with [1] of timers.cpp.  If this reads null, the timers have done their last
  // access to the alarm.
  if (timers* const home = home_.load(std::memory_order_acquire)) home->remove(*this);
}

}  // namespace weft::detail
