// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <cstdint>
#include <exception>
#include <new>
#include <optional>
#include <stdexcept>
#include <utility>

#include "sched/base/backend.hpp"
#include "sched/base/detail/deferred_events.hpp"
#include "sched/runtime/detail/scheduling.hpp"
#include "sched/tasks/detail/task_service.hpp"

/// What a scheduler does for tasks that are started one by one (scope_core.hpp).
namespace weft::detail {

template <class S>
void task_service<S>::start(task_record& r) {
  if constexpr (S::on_several_threads)
    if (!desk::of_thread || desk::of_thread->home != &self()) throw_no_process_here();
  if (!self().is_running()) throw_no_process_here();
  process& p = self().running();
  r.home = this;
  r.parent = p.id();
  r.first_frame_here().evidence = self().evidence_for(r.row(), false);
  r.number = p.next_child_number();
  if (scope_core* const s = r.of())
    s->add(r);
  else
    self().keep();
  if constexpr (lazy_backend<typename S::backend_type>)
    if (r.row().is_light) {
      try {
        return push_lazy_tasks(self().worker(), 1, [&] { return static_cast<lazy_task*>(&r); });
      } catch (...) {  // no memory for an offer: perhaps there is some for a process
      }
    }
  auto const begins = [this, &r] {
    if (thunk begun = r.promote()) self().put(std::move(begun), put_reason::started);
  };
  if constexpr (S::explores)
    if (self().has_events()) return cause_event("the start of a task", nullptr, begins);
  begins();
}
template <class S>
[[noreturn, gnu::cold, gnu::noinline]] void task_service<S>::throw_no_process_here() {
  throw std::logic_error("weft: a task is started in a scope by one of its scheduler's processes");
}

template <class S>
continuation task_service<S>::task_ended(task_record& r) noexcept {
  if constexpr (S::explores)
    if (task_ends_later(r, r.has_handle || r.has_failed())) return self().next();
  process* const host = r.host;
  task_wait* const called_by = r.called_by;
  scope_core* const s = r.of();
  task_is_over(r);
  if (host) return host->ended_elsewhere();
  return called_by ? awaits_on(*called_by) : leave_on(*s);
}
template <class S>
continuation task_service<S>::task_dropped(task_record& r) noexcept {
  continuation const outside = r.outside();
  r.is_left_as(any_task::fate::not_done);
  task_is_over(r);
  return outside;
}
/// SCOPE-1, SCOPE-3.
template <class S>
void task_service<S>::task_is_over(task_record& r) noexcept {
  is_hosted_no_more(r);
  scope_core* const s = r.of();
  if (s && (r.has_failed() || r.came_to() != any_task::fate::ends)) [[unlikely]]
    has_not_ended_well(r, *s);
  if (s && !r.has_handle) {
    r.destroy();
    return one_has_ended(*s);
  }
  auto const put_him = [this](task_waiter& w, process* p) {
    if (w.leaves) return scope_is_over(static_cast<scope_core&>(*w.leaves));
    if (w.stays()) return looks_again(static_cast<scope_core&>(*w.of), *p);
    if (is_ending_) [[unlikely]]
      return (void)thunk(p);
    self().put(thunk(p, 1), put_reason::woken);
  };
  if (self().tasks_.ends(r, put_him)) is_nobodys(r);
}
/// It failed; or has been left undone, since it is to end, or for want of memory: or of itself,
/// which is well.
template <class S>
[[gnu::noinline]] void task_service<S>::has_not_ended_well(task_record& r, scope_core& s) noexcept {
  using fate = any_task::fate;
  if (r.came_to() == fate::not_done) {
    if (!r.has_handle && self().is_to_end_at(continuation(r))) s.is_left_undone(r.id());
    return;
  }
  if (!r.has_handle)
    s.failed(r.id(),
             r.came_to() == fate::ends ? r.error() : std::make_exception_ptr(std::bad_alloc()));
  // Who has a handle decides himself, as long as the body may.
  if (r.has_handle) note_access(&s.count, false);
  if (!r.has_handle || !s.body_is_open.load(std::memory_order_relaxed)) cancel(s);
}
template <class S>
void task_service<S>::is_nobodys(task_record& r) noexcept {
  bool const is_in_none = !r.of();
  if (is_in_none) note_access(static_cast<waitable_task*>(&r), false);
  // Relaxed: whoever looked has let go of it.
  if (is_in_none && !r.was_looked_at.load(std::memory_order_relaxed)) {
    if (r.error()) self().failed(r.id(), r.error());
    if (r.came_to() == any_task::fate::no_memory)
      self().failed(r.id(), std::make_exception_ptr(std::bad_alloc()));
  }
  r.destroy();
  if (is_in_none) self().release();
}

// ---- waiting for a handle

template <class S>
std::coroutine_handle<> task_service<S>::call(task_wait& w) noexcept {
  if constexpr (lazy_backend<typename S::backend_type>) {
    if (!can_call() || self().must_look_up()) return {};
    while (w.first && w.first->has_ended()) w.first = w.first->next;
    lazy_task* const newest = self().worker().reclaim();
    if (!newest) return {};
    auto& t = static_cast<any_task&>(*newest);
    if (!w.first || &t != static_cast<task_record*>(w.first)) {
      put_back(*newest);
      return {};
    }
    auto& r = static_cast<task_record&>(*w.first);
    r.called_from = w.leaf;
    r.called_by = &w;
    r.called_in = &self().running();
    is_hosted_now(r);
    note_pinning();
    return r.release();
  } else {
    return {};
  }
}
/// One of them was done as a call.
template <class S>
continuation task_service<S>::awaits_on(task_wait& w) noexcept {
  if (auto const called = call(w)) return called;
  process& p = self().running();
  (void)p.stop_at(*w.operation, w.leaf, *w.waiting, self());  // it can be
  self().on_wait_begin(p);
  w.here.who.waits(p);
  auto const how = self().tasks_.enter(w.here, w.first, self().refusing());
  if (how != entering::waits) {
    (void)w.here.who.take();
    self().goes_on(p);
    if (how == entering::refused) p.must_be_told();
    self().put(thunk(&p, 1), put_reason::yielded);
    return self().next();
  }
  self().waits(p);
  return self().next();
}
template <class S>
template <class Await>
  requires requires(Await& a) { a.how.first; }
void task_service<S>::on(Await& a) {
  self().wait(a.how.here.who, [&] {
    if constexpr (requires { a.until; }) {
      if (a.time) a.until.at(self().later(*a.time));
      if (!self().set(a.until)) return entering::refused;
    }
    return self().tasks_.enter(a.how.here, a.how.first, self().refusing());
  });
}

// ---- scopes

template <class S>
std::coroutine_handle<> task_service<S>::enters(scope_core& s, std::coroutine_handle<> leaf,
                                                result_slot<void>& waiting,
                                                operation_info const& operation) noexcept {
  is_opened(s, self().running(), leaf);
  if (is_to_stop_at(leaf)) return is_told(leaf, waiting, operation);
  waiting.set();
  return leaf;
}
template <class S>
void task_service<S>::is_opened(scope_core& s, process& owner,
                                std::coroutine_handle<> leaf) noexcept {
  note_created(&s.cancelled);
  note_created(&s.count);
  s.home = this;
  s.owner = &owner;
  s.owner_id = owner.id();
  s.leaf = leaf;
  s.is_on_the_ground = prompt::innermost() == &self();
}
/// What its owner does next, at its end: what it can do itself; then it waits, or goes on.
template <class S>
continuation task_service<S>::leave_on(scope_core& s) noexcept {
  if constexpr (lazy_backend<typename S::backend_type>)
    while (can_call()) {
      lazy_task* const o = self().worker().reclaim();
      if (!o) break;
      auto& t = static_cast<any_task&>(*o);
      if (t.group != &s) {
        put_back(*o);
        break;
      }
      auto& r = static_cast<task_record&>(t);
      if (s.is_cancelled() || is_to_stop_at(s.leaf)) {
        r.drop_frame(any_task::fate::not_done);
        task_is_over(r);
        continue;
      }
      r.called_from = s.leaf;
      r.called_by = nullptr;
      if (gives_way(r.number, 1)) return give_way(r.release(), *s.waiting, *s.operation);
      return r.release();
    }
  process& p = self().running();
  (void)p.stop_at(*s.operation, s.leaf, *s.waiting, self());  // it can be
  self().on_wait_begin(p);
  s.here.who.waits(p);
  s.here.of = &s;
  cancel_with_owner(s);
  if (waits_on(s, true)) {
    self().waits(p);
    return self().next();
  }
  (void)s.here.who.take();
  self().goes_on(p);
  p.go_on_unanswered(self());
  s.waiting->set_word(1);
  return s.leaf;
}
/// Whether there is something to wait for (SCOPE-2): whoever ends that is told, on s.here.  If it is
/// not the owner who asks, and there is something, the scope may be gone then.
template <class S>
bool task_service<S>::waits_on(scope_core& s, bool by_owner) noexcept {
  for (;;) {
    note_access(&s.count, false);
    if (!s.count.is_zero()) {
      self().tasks_.enter(s.here);
      if (by_owner) cancel_with_owner(s);
      if (s.count.wait()) return true;
      if (process* const p = self().tasks_.leave(s.here)) s.here.who.waits(*p);
    }
    if (task_record* const r = s.not_ended()) {
      if (self().tasks_.enter_for_one(s.here, *r)) {
        if (by_owner) cancel_with_owner(s);
        return true;
      }
    } else if (s.count.is_zero()) {
      return false;
    }
  }
}
/// Of those that it counts.
template <class S>
void task_service<S>::one_has_ended(scope_core& s) noexcept {
  note_access(&s.count, true);
  if (s.count.end_one()) scope_is_over(s);
}
/// What was waited for has ended; there may be more.
template <class S>
void task_service<S>::scope_is_over(scope_core& s) noexcept {
  if (s.leaving) {
    (void)self().tasks_.leave(s.here);
    if (!waits_on(s, false)) go_on_unwinding(s);
    return;
  }
  looks_again(s, *self().tasks_.leave(s.here));
}
/// The owner, which has been taken at the end of the scope.  On one thread it is ready when nothing
/// is left there: so a scheduler that ends, and drops who is ready, leaves nothing open behind.  On
/// several it looks itself: nobody else could, when the scope may be gone as soon as it is said
/// that the owner waits.
template <class S>
void task_service<S>::looks_again(scope_core& s, process& owner) noexcept {
  if (is_ending_) return owner_is_dropped(s, owner);
  if constexpr (!S::on_several_threads) {
    s.here.who.waits(owner);
    if (waits_on(s, true)) return;
    (void)s.here.who.take();
  }
  self().put(thunk(&owner, !S::on_several_threads), put_reason::woken);
}
/// Nobody runs any more, and it was at the end of that scope: it goes when what is left there has.
template <class S>
void task_service<S>::owner_is_dropped(scope_core& s, process& p) noexcept {
  s.leaving = &p;
  s.here.of = nullptr;
  s.here.leaves = &s;
  if (!waits_on(s, false)) go_on_unwinding(s);
}

}  // namespace weft::detail
