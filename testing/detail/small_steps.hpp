// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <exception>
#include <source_location>
#include <type_traits>

#include "weft/effects/handle.hpp"
#include "weft/sched/base/backend.hpp"
#include "weft/sched/base/detail/backend_header.hpp"
#include "weft/sched/base/detail/forkable_process.hpp"
#include "weft/sched/base/detail/observer.hpp"
#include "weft/sched/base/process.hpp"
#include "weft/sched/base/scheduled.hpp"
#include "weft/sched/sync/gate.hpp"
#include "weft/sched/tasks/tasking.hpp"

/// Steps as small as operations: a process that is about to perform an operation on a shared object
/// is put back first, and performs the operation when it is chosen again.
namespace weft::detail {

/// The header that an explorer's backend keeps in front of each process (backend_header.hpp): the
/// operation that the process has deferred.
struct alignas(16) pending_header {
  pending_operation pending;
};

[[nodiscard]] inline pending_operation& pending_of(process& p) noexcept {
  return header_of<pending_header>(p).pending;
}
/// Whether an operation on a shared object is a step of its own now.  It is not if steps are not so
/// small, or no process runs.  Nor is it if all processes are cancelled, or if the running one is
/// being replayed, or is inside a body that is resumed bitwise (bitwise/bitwise.hpp): then this
/// makes the deferred events of the running process take effect, as the operation is performed at
/// once.
template <class S>
[[nodiscard]] bool has_small_steps(S& s) noexcept {
  if (!s.base().is_parallel() || !s.running_here()) return false;
  if (!s.cancellation.is_of_all() && !s.log_of_running().replaying() && !prompt::arena_here())
    return true;
  s.base().events().apply_all_of(s.running());  // before the operation, which comes now (EVENT-1)
  return false;
}
/// The running process, if its events can be deferred; else null.  Events cannot be deferred inside
/// ordinary code, where the process cannot be suspended at its next operation, nor inside a nested
/// scheduler.
template <class S>
[[nodiscard]] process* process_with_events(S& s) noexcept {
  return s.running_here() && s.is_active() && has_small_steps(s) ? &s.running() : nullptr;
}
/// Whether the running process has events that have not taken effect.
template <class S>
[[nodiscard]] bool has_events_here(S& s) noexcept {
  return s.running_here() && s.base().events().has(s.running());
}
/// Suspends the running process before an operation.  False if ordinary code stands between them.
template <class O, class S>
[[nodiscard]] bool suspend_before(S& s, O const& o, std::coroutine_handle<> leaf,
                                  result_slot_base& waiting) {
  process& p = s.running();
  if (p.is_forkable()) static_cast<forkable_process&>(p).waits_at(site_of(o, waiting.where));
  return p.suspend_at(info_of<O>, leaf, waiting, s);
}
template <class S>
[[nodiscard]] std::coroutine_handle<> put_pending(S& s, pending_operation const& o) noexcept {
  process& p = s.running();
  pending_of(p) = o;
  p.require_preparation();
  s.put(s.box(), put_reason::yielded);
  return s.next();
}

/// The dispatch `D` of an operation (clause_dispatch.hpp), which may be a step of its own.
template <class D>
struct stepwise : D {
  using S = typename D::scheduler;
  using E = typename D::effect;
  using O = typename D::operation;
  using R = typename O::result;
  static constexpr scheduling_rule how = D::how;
  static constexpr bool may_be_small_step = how.is_shared;
  /// Whether the events of the process (deferred_events.hpp) take effect before the operation: so a
  /// process that waits has no events left, and a spawned process finds their effects.
  static constexpr bool comes_after_events =
      may_be_small_step || D::ends_step || D::spawns || how.follows_events;

  /// Whether the operation is a step of its own: an operation on a shared object always is; a spawn
  /// is if the number of processes is limited; an exit is if there were groups of tasks, since it
  /// cancels those of its process.
  static bool is_a_step(S& s) {
    if constexpr (D::spawns) return s.is_limited();
    if constexpr (how.ends_process) return s.base().had_groups;
    return may_be_small_step;
  }
  /// Whether the operation is put off to a later turn of its process, so that other processes may
  /// run before it: if it is a step of its own or the process has deferred events.
  static bool is_deferred(S& s, O const& o) {
    if constexpr (!comes_after_events) return false;
    if constexpr (std::is_same_v<O, syncing::own>)
      if (!o.location) return false;  // without a location, nothing is accessed
    return (is_a_step(s) || has_events_here(s)) && has_small_steps(s);
  }

  static std::coroutine_handle<> control(evidence<E>& e, O& o, std::coroutine_handle<> leaf,
                                         result_slot<R>& waiting) {
    if (is_deferred(D::scheduler_of(e), o)) return perform_later(e, o, leaf, waiting);
    return D::control(e, o, leaf, waiting);
  }
  static std::coroutine_handle<> control_in_turn(evidence<E>& e, O& o, std::coroutine_handle<> leaf,
                                                 result_slot<R>& waiting) {
    if (is_deferred(D::scheduler_of(e), o)) return perform_later(e, o, leaf, waiting);
    return D::control_in_turn(e, o, leaf, waiting);
  }
  static bool at_once(evidence<E>& e, O& o, result_slot<R>& waiting) {
    S& s = D::scheduler_of(e);
    D::require_running(s, waiting.where);
    note_for_report(s, o, waiting.where);
    return !is_deferred(s, o) && D::at_once(e, o, waiting);
  }
  static bool attempt_at_once(evidence<E>& e, O& o, result_slot<R>& waiting) {
    S& s = D::scheduler_of(e);
    D::require_running(s, waiting.where);
    if constexpr (may_be_small_step)
      if (!s.running().is_forkable() && has_small_steps(s)) return false;
    return D::attempt_at_once(e, o, waiting);
  }

 private:
  /// Notes for reports that the operation is about to be performed at `where`.
  static void note_for_report(S& s, O& o, std::source_location where) {
    if constexpr (requires { o.what->where = where; })
      o.what->where = where;
    else if constexpr (std::is_base_of_v<announced_access, O>) {
      if (o.location) s.base().note_call(s.running().id(), o.call, where);
    }
  }
  static std::coroutine_handle<> perform_later(evidence<E>& e, O& o, std::coroutine_handle<> leaf,
                                               result_slot<R>& waiting) {
    S& s = D::scheduler_of(e);
    if (suspend_before(s, o, leaf, waiting)) [[likely]]
      return put_pending(s, {perform_pending, &e, &o, &waiting, leaf, nullptr, is_a_step(s)});
    // Ordinary code stands between process and operation: the process cannot be suspended.
    s.base().events().apply_all_of(s.running());
    if (answer_at_once(s, o, waiting)) return leaf;
    D::throw_crossed(s, o, waiting.where);
  }
  static bool answer_at_once(S& s, O& o, result_slot<R>& waiting) {
    if constexpr (D::may_end_step)
      return !s.running().is_forkable() && attempt(s, o, waiting);
    else if constexpr (!D::ends_step)
      return D::answer(s, o, waiting);
    else
      return false;
  }
  /// Performs an operation that was put off, in a later turn of its process.
  static std::coroutine_handle<> perform_pending(void* scheduler, process& p,
                                                 pending_operation const& self) {
    S& s = *static_cast<S*>(scheduler);
    O& o = *static_cast<O*>(self.operation);
    auto& waiting = *static_cast<result_slot<R>*>(self.waiting);
    // A cancelled process finds the cancellation first, as in control_in_turn().  An operation that
    // may have to wait is not answered at once while needs_attention(), as in attempt_at_once().
    if (how.checks_cancellation && s.cancellation.needs_attention() &&
        s.cancellation.includes(self.leaf))
      return s.refuse(p);
    try {
      bool const must_ask = D::may_end_step && s.cancellation.needs_attention();
      if (!must_ask && answer_at_once(s, o, waiting)) return p.resume_slow(0, s);
      if constexpr (D::may_end_step || D::ends_step || D::spawns) {
        if (p.is_forkable())
          (void)before_recording(s, o, self.leaf, waiting.where);
        else if constexpr (how.needs_log)
          refuse_fork(s, site_of(o, waiting.where));
        return perform_suspended(s, o);
      }
    } catch (...) {  // thrown before the process was put anywhere
      s.log_of_running().record_error(site_of(o, waiting.where), std::current_exception());
      waiting.fail(std::current_exception());
    }
    return p.resume_slow(0, s);
  }
};

/// The dispatch of an operation of tasking<> that starts no task (task_dispatch.hpp).
template <class D>
  requires std::is_same_v<typename D::effect, tasking<>> && (!D::starts)
struct stepwise<D> : D {
  using S = typename D::scheduler;
  using E = tasking<>;
  using O = typename D::operation;
  using R = typename O::result;
  /// Whether the operation reads state that other processes write: whether tasks or the body of a
  /// scope have ended, or whether a scope is cancelled.  Such an operation is a step of its own.
  static constexpr bool looks_at_others =
      D::awaits || std::is_same_v<O, E::enter> || std::is_same_v<O, E::leave>;

  static bool attempt_await(evidence<E>& e, O& o, result_slot<R>& waiting) {
    S& s = D::scheduler_of(e);
    D::require_running(s, waiting.where);
    if (!keeps_log(s.running()) && has_small_steps(s)) return false;
    return D::attempt_await(e, o, waiting);
  }
  static std::coroutine_handle<> control(evidence<E>& e, O& o, std::coroutine_handle<> leaf,
                                         result_slot<R>& waiting) {
    S& s = D::scheduler_of(e);
    if (s.running_here() && !s.log_of_running().replaying() &&
        (looks_at_others || D::how.is_shared || has_events_here(s)) && has_small_steps(s)) {
      if (suspend_before(s, o, leaf, waiting))
        return put_pending(s, {perform_pending, &e, &o, &waiting, leaf, drop(), looks_at_others});
      s.base().events().apply_all_of(s.running());
    }
    return D::control(e, o, leaf, waiting);
  }

 private:
  using drop_function = void(void* scheduler, process& p, pending_operation const& self) noexcept;
  /// For `leave`, the function that takes over a process which is dropped while the operation is
  /// pending (pending_operation); else null.
  static constexpr drop_function* drop() noexcept {
    if constexpr (std::is_same_v<O, E::leave>)
      return [](void* scheduler, process& p, pending_operation const& self) noexcept {
        drop_owner(*static_cast<S*>(scheduler), *static_cast<O*>(self.operation)->what, p);
      };
    else
      return nullptr;
  }
  /// Performs an operation that was put off, in a later turn of its process.
  static std::coroutine_handle<> perform_pending(void* scheduler, process& p,
                                                 pending_operation const& self) {
    S& s = *static_cast<S*>(scheduler);
    O& o = *static_cast<O*>(self.operation);
    auto& waiting = *static_cast<result_slot<R>*>(self.waiting);
    p.resume_unanswered(s);
    try {
      if constexpr (D::awaits)
        if (!keeps_log(p) && D::answer_if_ended(o, waiting)) return self.leaf;
      return D::perform(s, o, self.leaf, waiting);
    } catch (...) {  // thrown before the process was suspended
      waiting.fail(std::current_exception());
      return self.leaf;
    }
  }
};

}  // namespace weft::detail
