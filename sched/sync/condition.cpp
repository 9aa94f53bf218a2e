// SPDX-License-Identifier: MIT
#include "weft/sched/sync/condition.hpp"

#include <cstddef>
#include <memory>
#include <mutex>
#include <source_location>
#include <string_view>
#include <type_traits>
#include <utility>

#include "weft/effects/detail/internal.hpp"
#include "weft/effects/eff.hpp"
#include "weft/sched/base/backend.hpp"
#include "weft/sched/base/detail/deferred_events.hpp"
#include "weft/sched/base/detail/intrusive_list.hpp"
#include "weft/sched/base/errors.hpp"
#include "weft/sched/sync/gate.hpp"
#include "weft/sched/sync/mutex.hpp"

namespace weft {

/// The list of waiters, in the order of arrival.
///
///   CONDITION-1  The list, and the fields of its waiters, are accessed under `mutex_`.
///   CONDITION-2  A waiter is on the list before the mutex of its guard is unlocked.  So it misses
///       no notify of a process that locks the mutex after that.
///   CONDITION-3  Each waiter waits at a gate of its own, which is released under `mutex_`.  A
///       process that goes on locks `mutex_` before it destroys its waiter; so the gate lives until
///       its release is done.
///   CONDITION-4  A process that was woken by notify_one() uses up that notify when it has the
///       mutex again.  If it is cancelled or destroyed before that, it notifies the next waiter.
class condition::state final : public detail::gate_owner {
 public:
  state() noexcept { detail::note_created(this); }
  state(state const&) = delete;
  state& operator=(state const&) = delete;
  virtual ~state() { detail::note_destroyed(this); }
  [[nodiscard]] std::string_view call() const noexcept override { return "weft::condition::wait"; }
  void describe(deadlock::waiter&, std::size_t) const override {}
  void notify(std::size_t most) noexcept;
  void close() noexcept;

  struct forever {};
  /// Waits for a notify.  `Time` is an instant, or `forever`.
  template <class Time>
  static eff<std::conditional_t<std::is_same_v<Time, instant>, bool, void>, syncing> waits(
      std::shared_ptr<state> s, mutex::guard& held, Time until, std::source_location where);

 private:
  friend class waiter;

  /// Recursive: if there is no memory to make a process ready, the process may be unwound under the
  /// lock; the destructor of its waiter then locks again.
  std::recursive_mutex mutex_;
  detail::intrusive_list<waiter> waiters_;  // the longest waiting first
  bool closed_ = false;
};

class condition::waiter : public detail::list_entry<waiter> {
 public:
  explicit waiter(state& s) noexcept : home_(s) {
    at_.belongs_to(detail::internal(), s);
    std::lock_guard const lock(home_.mutex_);
    home_.waiters_.push_back(*this);
  }
  waiter(waiter const&) = delete;
  waiter& operator=(waiter const&) = delete;
  ~waiter() {
    (void)leave();
    if (owes_notify_) home_.notify(1);  // passes the notify on (CONDITION-4)
  }

  [[nodiscard]] gate& at() noexcept { return at_; }
  /// Unlinks the waiter.  Returns whether it was notified.
  bool leave() noexcept {
    std::lock_guard const lock(home_.mutex_);  // waits until a release is done (CONDITION-3)
    if (!std::exchange(has_left_, true) && !notified_) {
      detail::note_access(&home_, true);
      home_.waiters_.remove(*this);
    }
    return notified_;
  }
  /// Called when the process has the mutex again: it uses up the notify (CONDITION-4).
  void use_notify() noexcept { owes_notify_ = false; }
  /// Whether the waiter was notified.  Throws `cancelled` if the condition was destroyed before a
  /// notify.
  [[nodiscard]] bool take_notification() {
    std::lock_guard const lock(home_.mutex_);
    if (notified_) return true;
    detail::note_access(&home_, false);
    if (home_.closed_) throw cancelled();
    return false;
  }

 private:
  friend class state;

  state& home_;
  gate at_;
  bool notified_ = false;
  bool owes_notify_ = false;  // was woken by notify_one(), and has not used it up (CONDITION-4)
  bool has_left_ = false;
};

void condition::state::notify(std::size_t most) noexcept {
  detail::note_access(this, true);
  std::lock_guard const lock(mutex_);
  bool const to_one = most == 1;
  for (; most != 0 && !waiters_.empty(); --most) {
    waiter& w = *waiters_.first();
    waiters_.remove(w);
    w.notified_ = true;
    w.owes_notify_ = to_one;
    w.at_.release_now(detail::internal());
  }
}
void condition::state::close() noexcept {
  detail::note_access(this, true);
  std::lock_guard const lock(mutex_);
  closed_ = true;
  for (waiter* w = waiters_.first(); w;) {
    waiter* const next = waiters_.next(*w);
    w->at_.release_now(detail::internal());
    w = next;
  }
}

condition::condition() : state_(std::make_shared<state>()) {}
condition::~condition() {
  detail::cause_event("the end of a condition", nullptr, [s = std::move(state_)] { s->close(); });
}
void condition::notify_one() noexcept {
  detail::cause_event("a notification", nullptr, [s = state_] { s->notify(1); });
}
void condition::notify_all() noexcept {
  detail::cause_event("a notification", nullptr, [s = state_] { s->notify(~std::size_t{0}); });
}

template <class Time>
eff<std::conditional_t<std::is_same_v<Time, instant>, bool, void>, syncing> condition::state::waits(
    std::shared_ptr<state> s, mutex::guard& held, Time until, std::source_location where) {
  constexpr bool has_deadline = std::is_same_v<Time, instant>;
  mutex::state m;
  bool in_time = true;
  co_await detail::located(syncing::touch(s.get(), true, "weft::condition::wait"), where);
  waiter me(*s);  // on the list before the unlock (CONDITION-2)
  m = held.taken();
  (void)mutex::guard(m);  // unlocks
  for (auto seen = me.at().epoch(); in_time && !me.take_notification(); seen = me.at().epoch())
    if constexpr (has_deadline)
      in_time = co_await detail::located(syncing::wait_until(me.at(), seen, until), where);
    else
      co_await detail::located(syncing::wait(me.at(), seen), where);
  bool const take_notification = me.leave();
  in_time = in_time || take_notification;
  held = co_await mutex::locks(std::move(m), where);
  me.use_notify();
  if constexpr (has_deadline) co_return in_time;
}
eff<void, syncing> condition::waits(std::shared_ptr<state> s, mutex::guard& held,
                                    std::source_location where) {
  return state::waits(std::move(s), held, state::forever(), where);
}
eff<bool, syncing> condition::waits_until(std::shared_ptr<state> s, mutex::guard& held, instant t,
                                          std::source_location where) {
  return state::waits(std::move(s), held, t, where);
}

}  // namespace weft
