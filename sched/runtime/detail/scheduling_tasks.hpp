// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <coroutine>
#include <cstdint>
#include <utility>

#include "sched/base/backend.hpp"
#include "sched/base/detail/forkable_process.hpp"
#include "sched/runtime/detail/scheduling.hpp"
#include "sched/tasks/detail/task_service.hpp"

/// What a scheduler does for a process that has tasks (task.hpp).
namespace weft::detail {

/// Who runs is to end: it stops at that operation, and finds it out as at any other.
template <class S>
std::coroutine_handle<> task_service<S>::is_told(std::coroutine_handle<> leaf,
                                                 result_slot_base& waiting,
                                                 operation_info const& operation) noexcept {
  process& p = self().running();
  (void)p.stop_at(operation, leaf, waiting, self());  // it can be
  // What must be answered is not counted there.
  if (operation.is_to_be_answered && p.cancel() > self().patience()) [[unlikely]] {
    if (self().is_cancelling()) self().note_left(p);
    self().here().running = nullptr;
    self().bury(&p, nullptr);
    return self().next();
  }
  p.must_be_told();
  self().put(thunk(&p), put_reason::yielded);
  return self().next();
}
/// For who has taken it, and puts it or runs it (TASK-2).
template <class S>
thunk task_service<S>::begin_task(any_task& t, process_id id) noexcept {
  using fate = any_task::fate;
  if constexpr (S::explores) has_tasks_ = true;
  frame& f = t.first_frame_here();
  result_slot_base* const to = f.to;
  process* p = nullptr;
  if (is_ending_ || is_to_stop_at(continuation(t))) {
    t.drop_frame(fate::not_done);
  } else {
    try {
      p = process::start(id, t.frame(), f.evidence, self(), self().sink_, !S::on_several_threads,
                         S::header);
    } catch (...) {
      t.drop_frame(fate::no_memory);
    }
  }
  if (!p) {
    t.is_over();
    return thunk::reason::quiescent;
  }
  (void)t.release();
  f.to = to;
  f.parent = continuation(static_cast<frame_end&>(t));
  t.host = p;
  is_hosted_now(t);
  desk& d = self().here();
  ++d.alive;
  ++d.unforkable;
  if (self().is_limited()) [[unlikely]]
    self().admission_.enter_anyway();
  return thunk(p);
}

/// Most often of one that the owner did, when all is as it should be: then what it does next.  As
/// little as can be, and what is rare out of line: so nothing is saved for it.
template <class S>
continuation task_service<S>::task_ended(task& t) noexcept {
  join& j = t.of();
  // Whoever cancels it has something looked up.
  if (t.host || t.has_failed() || self().must_look_up()) [[unlikely]]
    return task_ended_rarely(t);
  if constexpr (lazy_backend<typename S::backend_type>)
    if (j.left != 0) {
      lazy_task* const o = self().worker().reclaim();
      if (!o || static_cast<any_task*>(o)->group != &j) [[unlikely]]
        return is_taken(j, o);
      --j.left;
      return static_cast<any_task*>(o)->release();
    }
  if (j.left != 0 || j.not_offered != 0) [[unlikely]]
    return next_of(j);
  j.waiting->set();
  return j.leaf;
}
template <class S>
[[gnu::noinline]] continuation task_service<S>::task_ended_rarely(task& t) noexcept {
  join& j = t.of();
  if constexpr (S::explores)
    if (task_ends_later(t, t.has_failed())) return self().next();
  if (t.has_failed()) cancel(j);
  if (!t.host) return next_of(j);
  process& p = *t.host;
  is_hosted_no_more(t);
  ends_elsewhere(j);
  return p.ended_elsewhere();
}
/// In steps as small as operations: its end comes after the events of its process, or is a step.
template <class S>
template <class Task>
bool task_service<S>::task_ends_later(Task& t, bool is_a_step) noexcept {
  static constexpr auto is_over = [](void* scheduler, void* task) noexcept {
    static_cast<S*>(scheduler)->ends_later(*static_cast<Task*>(task));
  };
  if (!t.host) return false;
  return self().defers_end({.who = t.host, .is_a_step = is_a_step, .task = &t, .is_over = is_over});
}
template <class S>
void task_service<S>::ends_later(task& t) noexcept {
  if (t.has_failed()) cancel(t.of());
  ends_elsewhere(t.of());
}
/// It is unwound.
template <class S>
continuation task_service<S>::task_dropped(task& t) noexcept {
  continuation const outside = t.outside();
  t.is_left_as(task::fate::not_done);
  is_hosted_no_more(t);
  ends_elsewhere(t.of());
  return outside;
}
/// One that was taken has ended.
template <class S>
void task_service<S>::ends_elsewhere(join& j) noexcept {
  note_access(&j.word, true);
  // [1] release: the owner finds what was done [2] [3].  acquire: who has it go on, what all did.
  if (j.word.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (j.leaving) return go_on_unwinding(j);
  j.waiting->set();
  process* const owner = self().tasks_.leave(j.here);
  if (is_ending_) {
    j.leaving = owner;
    return go_on_unwinding(j);
  }
  self().put(thunk(owner), put_reason::woken);
}

/// One that the owner did has ended: what it does next, whatever has happened.
template <class S>
[[gnu::noinline]] continuation task_service<S>::next_of(join& j) noexcept {
  bool const goes_on = !j.is_cancelled() && !is_to_stop_at(continuation(*j.tasks));
  if constexpr (lazy_backend<typename S::backend_type>)
    while (j.left != 0) {
      lazy_task* const o = self().worker().reclaim();
      if (!o || static_cast<any_task*>(o)->group != &j) return is_taken(j, o);
      auto& t = static_cast<any_task&>(*o);
      --j.left;
      if (goes_on) return t.release();
      t.is_left_as(task::fate::not_done);
    }
  return rest_of(j, goes_on);
}
/// The newest offer, if there is one, is none of its.  What is left of it was taken by others, or
/// stands below what was started meanwhile, and has its turn.
template <class S>
[[gnu::noinline]] continuation task_service<S>::is_taken(join& j, lazy_task* newest) noexcept {
  if constexpr (lazy_backend<typename S::backend_type>)
    if (newest) put_back(*newest);
  bool const goes_on = !j.is_cancelled() && !is_to_stop_at(continuation(*j.tasks));
  return rest_of(j, goes_on);
}
/// Those that were not offered; then it waits for those that were taken, or need not.
template <class S>
continuation task_service<S>::rest_of(join& j, bool goes_on) noexcept {
  for (; j.not_offered != 0; --j.not_offered) {
    task& t = j.tasks[j.count - j.not_offered];
    if (goes_on) return --j.not_offered, t.release();
    t.is_left_as(task::fate::not_done);
  }
  // [2] acquire: with [1].
  if (j.left != 0 && j.word.load(std::memory_order_acquire) != -j.left) return wait_for_rest(j);
  j.waiting->set();
  return j.leaf;
}
template <class S>
[[gnu::noinline]] continuation task_service<S>::wait_for_rest(join& j) noexcept {
  process& p = self().running();
  (void)p.stop_at(*j.operation, j.leaf, *j.waiting, self());  // it can be
  self().on_wait_begin(p);
  j.here.who.waits(p);
  j.here.of = &j;
  self().tasks_.enter(j.here);
  cancel_with_owner(j);
  // [3] acquire: with [1].  release: who has us go on finds us stopped.
  if (j.word.fetch_add(j.left, std::memory_order_acq_rel) == -j.left) {
    (void)self().tasks_.leave(j.here);
    self().goes_on(p);
    p.go_on_unanswered(self());
    j.waiting->set();
    return j.leaf;
  }
  self().waits(p);
  return self().next();
}

// ---- cancelling (TASK-5)

template <class S>
void task_service<S>::cancel(task_group& g) noexcept {
  if (!is_cancelled_now(g)) return;
  if (g.is_scope && static_cast<scope_core&>(g).is_empty()) return;
  if constexpr (S::on_several_threads) {
    if (asks_later()) return;
  } else {
    if (cancel_inside(g)) return;
  }
  ask_all_who_wait();
}
/// Of all groups that have been cancelled.
template <class S>
void task_service<S>::ask_all_who_wait() noexcept {
  std::uint32_t asked = 0;
  auto const is_meant = [&asked](process const& p) noexcept {
    ++asked;
    return p.is_waiting() && is_cancelled_at(p.leaf());
  };
  // Those whose owner waits for them, and is to end, are found from there: others cannot ask what
  // is further out than a handler.
  auto const mark = [this](task_group& other) { return is_cancelled_now(other); };
  do self().wake_if(is_meant);
  while (self().tasks_.mark_groups_if(is_meant, mark));
  if constexpr (S::on_several_threads)
    if (desk* const d = desk::of_thread; d && d->home == &self()) d->until_asks = asked;
}
/// CANCEL-7.
template <class S>
bool task_service<S>::asks_later() noexcept {
  if constexpr (!lazy_backend<typename S::backend_type>) return false;  // has it others to run?
  desk const* const d = desk::of_thread;
  if (!d || d->home != &self() || d->until_asks == 0 || self().is_one_step()) return false;
  // acq_rel: who asks has seen all that was cancelled before, by whomever.
  must_ask_.exchange(true, std::memory_order_acq_rel);
  return true;
}
template <class S>
void task_service<S>::asks_if_due() noexcept {
  desk& d = *desk::of_thread;
  if (d.until_asks != 0) --d.until_asks;
  if (!must_ask_.load(std::memory_order_relaxed)) return;  // relaxed: who has said so looks here
  if constexpr (lazy_backend<typename S::backend_type>)
    if (d.until_asks != 0 && self().worker().has_other_work()) return;
  if (must_ask_.exchange(false, std::memory_order_acq_rel)) ask_all_who_wait();  // as above
}
/// By us.
template <class S>
bool task_service<S>::is_cancelled_now(task_group& g) noexcept {
  note_access(&g.cancelled, true);
  // Relaxed: CANCEL-2 of wake_if.hpp.
  if (g.cancelled.exchange(true, std::memory_order_relaxed)) return false;
  self().one_group_is_cancelled(true);
  return true;
}
/// Its owner stands in the room, and waits from now on.  If the group is cancelled already, who
/// stands further out is not asked: where scopes are nested deep, each would go all the way.
template <class S>
void task_service<S>::cancel_with_owner(task_group& g) noexcept {
  if (!self().must_look_up()) return;
  note_access(&g.cancelled, false);
  if (!g.is_cancelled() && self().some_group_is_cancelled() && is_cancelled_at(g.leaf)) cancel(g);
}
template <class S>
void task_service<S>::on_group_end(task_group& g) noexcept {
  self().one_group_is_cancelled(false);
  if constexpr (S::on_several_threads)
    if (!desk::of_thread || desk::of_thread->home != &self()) return;
  // Its owner has heeded it, unless all are to end.
  if (self().is_running() && &self().running() == g.owner && !self().is_cancelling())
    g.owner->was_heeded();
}

}  // namespace weft::detail
