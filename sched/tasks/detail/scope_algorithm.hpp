// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <cstdint>
#include <exception>
#include <new>
#include <optional>
#include <stdexcept>
#include <utility>

#include "weft/effects/handle.hpp"
#include "weft/sched/base/backend.hpp"
#include "weft/sched/base/detail/deferred_events.hpp"
#include "weft/sched/base/detail/location_listener.hpp"
#include "weft/sched/base/detail/scheduling_services.hpp"
#include "weft/sched/base/detail/worker_state.hpp"
#include "weft/sched/base/process.hpp"
#include "weft/sched/base/thunk.hpp"
#include "weft/sched/tasks/detail/scope_core.hpp"
#include "weft/sched/tasks/detail/scope_limit.hpp"
#include "weft/sched/tasks/detail/task.hpp"
#include "weft/sched/tasks/tasking.hpp"

/// How tasks are started one by one, in a scope or without one, how a process waits for a handle,
/// and how a scope ends.  The functions that when_all uses as well (can_call_tasks(), put_back(),
/// must_yield()) are in join_algorithm.hpp; wait() is in sync_clauses.hpp.  `S` is a scheduler
/// (backend_scheduler.hpp).
namespace weft::detail {

// ---- starting a task

[[noreturn, gnu::cold, gnu::noinline]] inline void throw_no_process_here() {
  throw std::logic_error("weft: a task is started in a scope by one of its scheduler's processes");
}
template <scheduling_services S>
void start_task(S& s, task_record& r) {
  if (!s.running_here()) throw_no_process_here();
  process& p = s.running();
  r.home = &s;
  r.parent = p.id();
  r.first_frame_here().evidence = s.evidence_for(r.row(), false, s.worker_here());
  r.number = p.next_child_number();
  if (scope_core* const c = r.scope())
    c->add(r);
  else
    s.keep();
  if constexpr (lazy_backend<typename S::backend_type>)
    if (r.row().is_light) {
      try {
        return push_lazy_tasks(s.worker(), 1, [&] { return static_cast<lazy_task*>(&r); });
      } catch (...) {  // no memory for a lazy task; there may be some for a process
      }
    }
  auto const begins = [&s, &r] {
    if (thunk process_of_task = r.promote()) s.put(std::move(process_of_task), put_reason::started);
  };
  if (!S::observer::defers_start(s, begins)) begins();
}

/// The clause of tasking<...>::start.
template <scheduling_services S>
void on(S& s, tasking<>::start& o) {
  start_task(s, *o.what);
}

// ---- a task ends

template <scheduling_services S>
continuation end_task(S& s, task_record& r) noexcept {
  if (S::observer::defers_task_end(s, r, r.has_handle || r.has_failed())) return s.next();
  process* const host = r.host;  // read first: settle_record() may destroy the task
  task_wait* const called_by = r.called_by;
  scope_core* const c = r.scope();
  settle_record(s, r);
  if (host) return host->end_from_task();
  return called_by ? call_next_or_wait(s, *called_by) : call_next_or_end(s, *c);
}
template <scheduling_services S>
void end_deferred_task(S& s, task_record& r) noexcept {
  settle_record(s, r);
}
/// Ends a task whose frames have been unwound.  Returns the frame or frame_end outside the task.
template <scheduling_services S>
continuation drop_task(S& s, task_record& r) noexcept {
  continuation const outside = r.outside();
  r.set_fate(any_task::fate::not_done);
  settle_record(s, r);
  return outside;
}
/// Called when the task has ended, or will not be done: tells its scope and its waiters (SCOPE-1,
/// SCOPE-3).
template <scheduling_services S>
void settle_record(S& s, task_record& r) noexcept {
  scope_core* const c = r.scope();
  if (c && (r.has_failed() || r.fate_of_run() != any_task::fate::ends)) [[unlikely]]
    note_bad_end(s, r, *c);
  if (c && !r.has_handle) {
    r.destroy();
    return count_ended(s, *c);
  }
  // A waiter may stand for the end of a scope, which waits for one task after the other: then the
  // scope is checked again.
  auto const put_waiter = [&s](task_waiter& w, process* p) {
    if (w.unwinds_for) return on_end_of_scope_woken(s, static_cast<scope_core&>(*w.unwinds_for));
    if (w.is.stays) return recheck_scope(s, static_cast<scope_core&>(*w.scope), *p);
    if (s.is_dropping_) [[unlikely]]
      return (void)thunk(p);
    S::observer::on_wake(s, *p);
    s.put(thunk(p, 1), put_reason::woken);  // 1: await_until is answered with true
  };
  if (s.waits.tasks.ends(r, put_waiter)) release_record(s, r);
}
/// Notes in the scope that a task has failed, or was not done.  A task is not done if it is
/// cancelled, if there is no memory, or if its continuation was dropped, which is no error.
template <scheduling_services S>
[[gnu::noinline]] void note_bad_end(S& s, task_record& r, scope_core& c) noexcept {
  using fate = any_task::fate;
  if (!r.has_handle && (r.fate_of_run() == fate::not_done || is_cancelled(r.error())) &&
      s.cancellation.includes(continuation(r)))
    return c.note_left_undone();
  if (r.fate_of_run() == fate::not_done) return;
  if (!r.has_handle)
    c.add_error(r.id(), r.fate_of_run() == fate::ends ? r.error()
                                                      : std::make_exception_ptr(std::bad_alloc()));
  // The error of a task with a handle is for the holder of the handle, as long as the body of the
  // scope may await it.
  if (r.has_handle) note_access(&c.count, false);
  if (!r.has_handle || !c.body_is_open.load(std::memory_order_relaxed))  // relaxed: seen eventually
    cancel_group(s, c);
}
/// Destroys a task that has ended, and to which no handle or scope refers.  If it has no scope and
/// no process has waited for it, its error counts as that of a process.
template <scheduling_services S>
void release_record(S& s, task_record& r) noexcept {
  bool const has_no_scope = !r.scope();
  if (has_no_scope) note_access(static_cast<waitable_task*>(&r), false);
  // relaxed: a process sets the flag before it drops its reference, and no reference is left here:
  // so the store of the flag comes before this load.
  if (has_no_scope && !r.was_awaited.load(std::memory_order_relaxed)) {
    if (r.error()) s.fail(r.id(), r.error());
    if (r.fate_of_run() == any_task::fate::no_memory)
      s.fail(r.id(), std::make_exception_ptr(std::bad_alloc()));
  }
  r.destroy();
  if (has_no_scope) s.release();
}

// ---- waiting for a handle

/// Returns the frame of the first task that has not ended among those the process waits for, to be
/// run as a call: if that task is the worker's newest lazy task, the process can call tasks, and no
/// cancellation needs attention.  Else null.
template <scheduling_services S>
std::coroutine_handle<> call_task(S& s, task_wait& w) noexcept {
  if constexpr (lazy_backend<typename S::backend_type>) {
    if (!can_call_tasks(s) || s.cancellation.needs_attention()) return {};
    while (w.first && w.first->has_ended()) w.first = w.first->next;
    lazy_task* const newest = s.worker().reclaim();
    if (!newest) return {};
    auto& t = static_cast<any_task&>(*newest);
    if (!w.first || &t != static_cast<task_record*>(w.first)) {
      put_back(s, *newest);
      return {};
    }
    auto& r = static_cast<task_record&>(*w.first);
    r.called_from = w.leaf;
    r.called_by = &w;
    if (r.group && r.group->owner == &s.running())
      r.is_called_by_owner.store(true, std::memory_order_relaxed);  // relaxed: only the owner looks
    note_pinning();
    return r.release();
  } else {
    return {};
  }
}
/// A task that the process called has ended: calls the next one, or waits for the others.
template <scheduling_services S>
continuation call_next_or_wait(S& s, task_wait& w) noexcept {
  if (auto const called = call_task(s, w)) return called;
  process& p = s.running();
  // Does not fail: the clause has found no ordinary code between the process and the operation.
  (void)p.suspend_at(*w.operation, w.leaf, *w.waiting, s);
  s.on_wait_begin(p);
  w.here.parked.hold(p);
  enter_group(s, w.here, s.waits.tasks);
  auto const how = s.waits.tasks.enter(w.here, w.first, s.cancellation.refuses());
  if (how != wait_entry::waits) {
    (void)w.here.parked.take();
    s.on_wait_cancelled(p);
    if (how == wait_entry::refused) p.mark_cancellable();
    s.put(thunk(&p, 1), put_reason::yielded);
    return s.next();
  }
  s.on_waiting(p);
  return s.next();
}
/// The clause of tasking<...>::await and await_until, for a process that is suspended.
template <scheduling_services S, class Await>
  requires requires(Await& o) { o.how.first; }
std::coroutine_handle<> on(S& s, Await& o) {
  return wait(s, o.how.here, s.waits.tasks, [&] {
    if constexpr (requires { o.until; }) {
      if (o.time) o.until.at(time_after(current_time(s), *o.time));
      if (!set_alarm(s, o.until)) return wait_entry::refused;
    }
    return s.waits.tasks.enter(o.how.here, o.how.first, s.cancellation.refuses());
  });
}

// ---- scopes

template <scheduling_services S>
void open_scope(S& s, scope_core& c, process& owner, std::coroutine_handle<> leaf) noexcept {
  note_created(c.cancellation());
  note_created(&c.count);
  s.waits.groups.note_use();
  c.home = &s;
  c.owner = &owner;
  c.owner_id = owner.id();
  c.owner_frame = leaf;
  c.around_body = prompt::innermost();
  c.is_on_the_ground = c.around_body == &s;
  if (!c.is_on_the_ground) prompt::note_scope();
}
template <scheduling_services S>
[[nodiscard]] bool runs(S& s, scope_core const& c) noexcept {
  process const* const p = s.is_active() ? s.running_here() : nullptr;
  return p && p == c.owner && p->id() == c.owner_id;
}
/// The clause of tasking<...>::enter.
template <scheduling_services S>
std::coroutine_handle<> enter_scope(S& s, tasking<>::enter& o, std::coroutine_handle<> leaf,
                                    result_slot<void>& waiting) {
  S::observer::on_group(s);
  open_scope(s, *o.what, s.running(), leaf);
  if (must_stop_at(s, leaf)) return stop_cancelled(s, leaf, waiting, info_of<tasking<>::enter>);
  if (o.limit) o.limit->begin(s, *o.what);
  if (!s.here().count_operation())  // the step has had its share of operations
    return yield_before(s, leaf, waiting, info_of<tasking<>::enter>);
  waiting.set();
  return leaf;
}
/// The clause of tasking<...>::leave, which is performed when the body of the scope has ended:
/// closes the body; then the owner calls lazy tasks, waits, or goes on.
template <scheduling_services S>
std::coroutine_handle<> leave_scope(S& s, scope_core& c) {
  note_access(&c.count, true);  // the location stands for body_is_open as well
  // release: as [2] of scope_core.hpp: a canceller that finds the body closed, in is_empty(), sees
  // the tasks that the body has started.
  c.body_is_open.store(false, std::memory_order_release);
  return call_next_or_end(s, c).resolve();
}
/// At the end of its scope the owner calls the lazy tasks of the scope; then it waits for the
/// others, or goes on.
template <scheduling_services S>
continuation call_next_or_end(S& s, scope_core& c) noexcept {
  if constexpr (lazy_backend<typename S::backend_type>)
    while (can_call_tasks(s)) {
      lazy_task* const newest = s.worker().reclaim();
      if (!newest) break;
      auto& t = static_cast<any_task&>(*newest);
      if (t.group != &c) {
        put_back(s, *newest);
        break;
      }
      auto& r = static_cast<task_record&>(t);
      if (c.is_cancelled() || must_stop_at(s, c.owner_frame)) {
        r.drop_frame(any_task::fate::not_done);
        settle_record(s, r);
        continue;
      }
      r.called_from = c.owner_frame;
      r.called_by = nullptr;
      if (must_yield(s, r.number, 1)) return yield_before(s, r.release(), *c.waiting, *c.operation);
      return r.release();
    }
  process& p = s.running();
  // The owner is suspended before it looks for tasks, since the last one may end on another thread
  // meanwhile.  suspend_at() does not fail: require_suspendable() has found no ordinary code
  // between the process and the operation.
  (void)p.suspend_at(*c.operation, c.owner_frame, *c.waiting, s);
  s.on_wait_begin(p);
  c.here.parked.hold(p);
  c.here.scope = &c;
  begin_wait_for(s, c);
  if (must_wait_for(s, c, true)) {
    s.on_waiting(p);
    return s.next();
  }
  (void)c.here.parked.take();
  s.on_wait_cancelled(p);
  p.resume_unanswered(s);
  c.waiting->set_word(1);  // 1: the scope is over
  return c.owner_frame;
}
/// Returns whether the scope has tasks that have not ended (SCOPE-2).  If so, `c.here` waits for
/// one of these tasks, or for the count to become zero, and the task that ends the wait has the
/// scope checked again (settle_record(), on_end_of_scope_woken()).  The waiter is in the room
/// before the flag of the count is set, so that the last task that ends finds the waiter there.  If
/// the result is true and the caller is not the owner, the scope may have been destroyed already.
template <scheduling_services S>
bool must_wait_for(S& s, scope_core& c, bool by_owner) noexcept {
  for (;;) {
    note_access(&c.count, false);
    if (!c.count.is_zero()) {
      s.waits.tasks.enter(c.here);
      if (by_owner) cancel_with_owner(s, c);
      if (c.count.wait()) return true;
      if (process* const p = s.waits.tasks.take_out(c.here)) c.here.parked.hold(*p);
    }
    if (task_record* const r = c.not_ended()) {
      if (s.waits.tasks.enter_for_one(c.here, *r)) {
        if (by_owner) cancel_with_owner(s, c);
        return true;
      }
    } else if (c.count.is_zero()) {
      return false;
    }
  }
}
/// Counts the end of a task without a handle.
template <scheduling_services S>
void count_ended(S& s, scope_core& c) noexcept {
  note_access(&c.count, true);
  if (c.count.end_one()) on_end_of_scope_woken(s, c);
}
/// Checks the scope again, since other tasks may be left.  Called when the task for which the end
/// of the scope waited has ended, or the count has become zero.
template <scheduling_services S>
void on_end_of_scope_woken(S& s, scope_core& c) noexcept {
  if (c.held_unwinding) {
    (void)s.waits.tasks.take_out(c.here);
    if (!must_wait_for(s, c, false)) continue_unwinding(c);
    return;
  }
  recheck_scope(s, c, *s.waits.tasks.take_out(c.here));
}
/// Makes an owner ready that was taken from its wait at the end of its scope.  With one thread,
/// only when the scope has no task left: so a scheduler that ends, and drops ready processes,
/// leaves no scope open.  With several threads, at once: the owner checks the scope in its turn.
/// Another thread cannot check the scope instead: once the owner is parked again, other threads may
/// resume it, and the scope may be destroyed.
template <scheduling_services S>
void recheck_scope(S& s, scope_core& c, process& owner) noexcept {
  if (s.is_dropping_) return drop_owner(s, c, owner);
  if constexpr (!S::on_several_threads) {
    c.here.parked.hold(owner);
    if (must_wait_for(s, c, true)) return;
    (void)c.here.parked.take();
  }
  bool const is_over = !S::on_several_threads;
  s.put(thunk(&owner, is_over), put_reason::woken);
}
/// Called when no process runs any more: drops an owner that waits at the end of its scope, as soon
/// as the tasks in the scope have ended.
template <scheduling_services S>
void drop_owner(S& s, scope_core& c, process& p) noexcept {
  c.held_unwinding = &p;
  c.here.scope = nullptr;
  c.here.unwinds_for = &c;
  if (!must_wait_for(s, c, false)) continue_unwinding(c);
}

}  // namespace weft::detail
