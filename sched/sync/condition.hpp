// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <memory>
#include <source_location>
#include <utility>

#include "weft/effects/awaits_to.hpp"
#include "weft/effects/eff.hpp"
#include "weft/sched/base/backend.hpp"
#include "weft/sched/sync/gate.hpp"
#include "weft/sched/sync/mutex.hpp"

namespace weft {

/// Processes wait here, with a mutex unlocked, until another process notifies them of a change.
///
///     auto held = co_await m.lock();
///     co_await changed.wait(held, [&] { return !queue.empty(); });  // one process
///     ...
///     queue.push_back(1);                                           // another, with m locked
///     changed.notify_one();
///
/// A notify wakes only processes that wait already, the longest waiting process first.  Other
/// processes may lock the mutex before the waiter has it again, so pass the predicate, which is
/// then checked again.  All this is so where schedules are explored, too.
///
/// A notify_one is not lost: if the process that it wakes is cancelled, or destroyed, before wait()
/// returns, the next process that waits is notified in its place.
///
/// If the condition is destroyed while processes wait, they find `cancelled`.  While a process
/// waits, only processes of the same scheduler may use the condition.  One allocation; each wait
/// takes a frame from the pool, with a predicate two, besides those of mutex::lock().  Every
/// operation is O(1), notify_all() O(n) in the waiters.
class condition {
 public:
  /// Throws bad_alloc.
  condition();
  condition(condition const&) = delete;
  condition& operator=(condition const&) = delete;
  ~condition();

  /// Unlocks the mutex, waits for a notify, and locks the mutex again.  If wait() throws
  /// `cancelled`, the guard does not own the mutex.  Throws std::logic_error if the guard owns none
  /// at the call.
  eff<void, syncing> wait(mutex::guard& held,
                          std::source_location where = std::source_location::current()) {
    return waits(state_, held, where);
  }
  /// Waits as wait(held) does, again and again, until `holds()` returns true.  `holds()` is called
  /// with the mutex locked, for the first time before any wait.  If `holds()` throws, the mutex
  /// stays locked.
  template <class Predicate>
  [[nodiscard("weft: co_await it")]] awaits_to<void> auto wait(
      mutex::guard& held, Predicate holds,
      std::source_location where = std::source_location::current()) {
    if constexpr (require_predicate<Predicate>())
      return waits_for(state_, held, std::move(holds), where);
    else
      return detail::refused<void>();
  }
  /// Waits as wait() does, but for a notify until `t` at the latest.  `co_await` yields false if
  /// there was none by then.
  /// In either case the mutex is locked again, however long that takes.  O(log n) in the waiters
  /// with a deadline.  Throws as wait() does.
  eff<bool, syncing> wait_until(mutex::guard& held, instant t,
                                std::source_location where = std::source_location::current()) {
    return waits_until(state_, held, t, where);
  }
  /// Waits as wait(held) does, again and again, until `holds()` returns true or `t` has passed.
  /// `co_await` yields the last result of `holds()`.  Throws as wait() does.
  template <class Predicate>
  [[nodiscard("weft: co_await it")]] awaits_to<bool> auto wait_until(
      mutex::guard& held, instant t, Predicate holds,
      std::source_location where = std::source_location::current()) {
    if constexpr (require_predicate<Predicate>())
      return waits_for_until(state_, held, t, std::move(holds), where);
    else
      return detail::refused<bool>();
  }

  /// Wakes the longest waiting process, which goes on in its turn.  Called by processes of the
  /// condition's scheduler, also while a process is unwound.  The mutex need not be locked.
  void notify_one() noexcept;
  /// Wakes all waiting processes, as notify_one() wakes one.
  void notify_all() noexcept;

 private:
  class waiter;
  class state;

  template <class Predicate>
  static consteval bool require_predicate() {
    constexpr bool is_a_predicate = std::predicate<Predicate&>;
    static_assert(is_a_predicate,
                  "weft: a wait at a condition takes the guard of a mutex, and a predicate: a "
                  "function without arguments that says whether to go on");
    return is_a_predicate;
  }
  static eff<void, syncing> waits(std::shared_ptr<state> s, mutex::guard& held,
                                  std::source_location where);
  static eff<bool, syncing> waits_until(std::shared_ptr<state> s, mutex::guard& held, instant t,
                                        std::source_location where);
  template <class Predicate>
  static eff<void, syncing> waits_for(std::shared_ptr<state> s, mutex::guard& held, Predicate holds,
                                      std::source_location where) {
    held.require();
    while (!holds()) co_await waits(s, held, where);
  }
  template <class Predicate>
  static eff<bool, syncing> waits_for_until(std::shared_ptr<state> s, mutex::guard& held, instant t,
                                            Predicate holds, std::source_location where) {
    held.require();
    while (!holds()) {
      bool const in_time = co_await waits_until(s, held, t, where);
      if (!in_time) co_return holds();
    }
    co_return true;
  }

  std::shared_ptr<state> state_;
};

}  // namespace weft
