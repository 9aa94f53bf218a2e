// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <source_location>
#include <type_traits>
#include <utility>

#include "weft/effects/handle.hpp"
#include "weft/sched/base/backend.hpp"
#include "weft/sched/base/detail/deferred_events.hpp"
#include "weft/sched/base/detail/forkable_process.hpp"
#include "weft/sched/base/detail/pending_operation.hpp"
#include "weft/sched/base/process.hpp"
#include "weft/sched/base/thunk.hpp"
#include "weft/sched/sync/gate.hpp"

/// Steps as small as operations, where schedules are explored (`S::explores`): a process that
/// performs an operation on a shared object is put back first, and performs it when it is chosen.
/// Events (deferred_events.hpp), which are no operations, and the end of a process are put off in
/// the same way.  With other backends all of this compiles to nothing.
namespace weft::detail {

/// Reports to the explorer that the process checks, before its step, whether a group around it is
/// cancelled.  The check is an access, whatever its outcome (CANCEL-6).
template <class S>
void note_group_check(S& s, process const& p) noexcept {
  if (s.tasks_.had_groups && p.is_waiting() && !s.base().events().has(p))
    (void)is_cancelled_at(p.leaf());
}
/// Reports to the explorer that the running process makes another one ready that waits: whether that
/// one is cancelled before decides which of the two it finds, so the groups around it are read.
template <class S>
void note_wake(S& s, process const& p) noexcept {
  if constexpr (S::explores)
    if (s.tasks_.had_groups && s.running_here() && p.is_waiting()) (void)is_cancelled_at(p.leaf());
}
/// Whether an operation on a shared object is a step of its own now.  If it would be, but all
/// processes are cancelled, or this one is being replayed or is inside a copyable body, then its
/// deferred events take effect first, and the operation is performed at once.
template <class S>
[[nodiscard]] bool has_small_steps(S& s) noexcept {
  if constexpr (S::explores) {
    if (!s.base().is_parallel() || !s.running_here()) return false;
    if (!s.cancellation.is_of_all() && !s.log_of_running().replaying() && !prompt::arena_here())
      return true;
    s.base().events().apply_all_of(s.running());  // EVENT-1: the operation is performed now
  }
  return false;
}
/// Suspends the running process before an operation.  False if ordinary code stands in between.
template <class O, class S>
[[nodiscard]] bool suspend_before(S& s, O const& o, std::coroutine_handle<> leaf,
                                  result_slot_base& waiting) {
  process& p = s.running();
  if (p.is_forkable()) static_cast<forkable_process&>(p).waits_at(site_of(o, waiting.where));
  return p.suspend_at(info_of<O>, leaf, waiting, s);
}
template <class S>
void put_pending(S& s, pending_operation const& o) noexcept {
  process& p = s.running();
  header_of<typename S::backend_type::header>(p).pending = o;
  p.require_preparation();
  s.put(s.box(), put_reason::yielded);
}
template <class S>
[[nodiscard]] pending_operation take_pending(S&, process& p) noexcept {
  if constexpr (S::explores) {
    auto& pending = header_of<typename S::backend_type::header>(p).pending;
    if (pending.perform) return std::exchange(pending, {});
  }
  return {};
}

// ---- events (deferred_events.hpp)

/// The running process, if its events can be deferred; else null.  Events cannot be deferred inside
/// ordinary code, where the process cannot be suspended at its next operation, nor inside a nested
/// scheduler.
template <class S>
[[nodiscard]] process* process_with_deferred_events(S& s) noexcept {
  return s.running_here() && s.is_active() && has_small_steps(s) ? &s.running() : nullptr;
}
/// Whether the running process has events that have not taken effect.
template <class S>
[[nodiscard]] bool has_events(S& s) noexcept {
  if constexpr (S::explores)
    return s.running_here() && s.base().events().has(s.running());
  else
    return false;
}
template <class S>
void apply_own_events(S& s) noexcept {
  if constexpr (S::explores)
    if (s.running_here()) s.base().events().apply_all_of(s.running());
}
/// Called when the running process, or a task that it does, has ended.  Defers the end, if it is a
/// step of its own or the process has deferred events.  Returns whether the end was deferred.
template <class S>
[[nodiscard]] bool defers_end(S& s, deferred_events::end e) noexcept {
  if constexpr (S::explores) {
    process* const p = e.owner;
    auto& all = s.base().events();
    if (!process_with_deferred_events(s) || (!e.is_a_step && !all.has(*p))) return false;
    bool const is_of_a_task = e.task != nullptr;
    try {
      all.put(std::move(e));
    } catch (...) {  // no memory: the events take effect at once (EVENT-4)
      all.apply_all_of(*p);
      return false;
    }
    if (is_of_a_task) p->drop_result();
    s.here().running = nullptr;
    p->require_preparation();
    s.put(thunk(p), put_reason::yielded);
    return true;
  } else {
    return false;
  }
}
/// Called in the turn of a process: makes its next deferred event, or its deferred end, take
/// effect.  Returns whether that was the whole step.
template <class S>
bool apply_what_comes_first(S& s, process* p, std::uint64_t answer) noexcept {
  if constexpr (S::explores) {
    auto& all = s.base().events();
    if (all.is_empty()) [[likely]]
      return false;
    if (all.has(*p)) {
      s.here().running = p;
      if (!s.cancellation.is_of_all()) all.apply_first_of(*p);
      if (s.cancellation.is_of_all()) all.apply_all_of(*p);  // that event may have cancelled them
      s.here().running = nullptr;
      auto const& pending = header_of<typename S::backend_type::header>(*p).pending;
      auto const* const end = all.end_of(*p);
      if (all.has(*p) || (pending.perform && pending.is_a_step) || (end && end->is_a_step)) {
        if (!s.cancellation.is_of_all()) return s.put(thunk(p, answer), put_reason::yielded), true;
      }
    }
    if (auto e = all.take_end(p); e.owner) return apply_end(s, std::move(e)), true;
  }
  return false;
}
template <class S>
void apply_end(S& s, deferred_events::end e) noexcept {
  if constexpr (S::explores) {
    auto& all = s.base().events();
    if (auto const end_task = std::exchange(e.is_over, nullptr)) {
      s.here().running = e.owner;
      end_task(&s, std::exchange(e.task, nullptr));
      if (all.has(*e.owner)) {
        e.is_a_step = false;
        process& p = *e.owner;
        if (defers_end(s, e)) return;  // copies `e`: without memory its error is needed below
        all.apply_all_of(p);
      }
      s.here().running = nullptr;
    }
    s.retire(e.owner, std::move(e.error));
  }
}
/// Called when no process runs any more.  A process that has deferred the end of a scope is handed
/// to that scope, which drops the process after the tasks that are left there.
template <class S>
void drop_pending(S& s) noexcept {
  if constexpr (S::explores)
    s.worker_->take_out([&s](thunk& t) {
      process& p = *t.get();
      auto const pending = header_of<typename S::backend_type::header>(p).pending;
      if (pending.drop) pending.drop(&s, *t.release(), pending);
    });
}
/// Makes all deferred events take effect, and then all ends of tasks.  Called when no process runs
/// any more.
template <class S>
void apply_all_deferred(S& s) noexcept {
  if constexpr (S::explores) {
    auto& all = s.base().events();
    if (all.is_empty()) [[likely]]
      return;
    while (process const* const p = all.owner_of_first()) all.apply_all_of(*p);
    for (auto e = all.take_end(nullptr); e.owner; e = all.take_end(nullptr))
      if (e.is_over) e.is_over(&s, e.task);
  }
}

/// Notes what a report says of an operation, which is about to be performed at that place.
template <class S, class O>
[[gnu::always_inline]] inline void note_for_report(S& s, O& o, std::source_location where) {
  if constexpr (S::explores && requires { o.what->where = where; })
    o.what->where = where;
  else if constexpr (S::explores && std::is_same_v<O, syncing::touch>)
    s.base().note_call(s.running().id(), o.call, where);
}

}  // namespace weft::detail
