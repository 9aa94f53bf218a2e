// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <atomic>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <type_traits>
#include <utility>

#include "weft/effects/handle.hpp"
#include "weft/sched/base/backend.hpp"
#include "weft/sched/base/detail/forkable_process.hpp"
#include "weft/sched/base/detail/location_listener.hpp"
#include "weft/sched/base/detail/scheduling_services.hpp"
#include "weft/sched/base/detail/worker_state.hpp"
#include "weft/sched/base/process.hpp"
#include "weft/sched/base/thunk.hpp"
#include "weft/sched/tasks/detail/task.hpp"
#include "weft/sched/tasks/tasking.hpp"

/// How a process has the tasks of a join done, and waits for them (when_all, parallel loops): from
/// pushing the tasks to resuming their owner.  `S` is a scheduler (backend_scheduler.hpp).
namespace weft::detail {

/// Whether the running process can call light tasks (TASK-1): the backend keeps lazy tasks, and the
/// process is outside all handlers and keeps no log.
template <scheduling_services S>
[[nodiscard]] bool can_call_tasks(S& s) noexcept {
  return lazy_backend<typename S::backend_type> && prompt::innermost() == &s &&
         !keeps_log(s.running());
}
/// Whether a process that would continue at `at` is cancelled, and so must not continue.
template <scheduling_services S>
[[nodiscard]] bool must_stop_at(S& s, continuation at) noexcept {
  if (!s.cancellation.needs_attention() || !s.cancellation.includes(at)) return false;
  if (s.cancellation.is_of_all()) s.cancellation.note_found();
  return true;
}
/// Suspends the running process, which is cancelled, at the operation: in its next turn it finds
/// `cancelled` there.
template <scheduling_services S>
std::coroutine_handle<> stop_cancelled(S& s, std::coroutine_handle<> leaf,
                                       result_slot_base& waiting,
                                       operation_info const& operation) noexcept {
  process& p = s.running();
  // Does not fail: no ordinary code stands between the process and the operation.
  (void)p.suspend_at(operation, leaf, waiting, s);
  // Cancellations of an operation that must be answered are counted here, not in prepare().
  if (operation.must_be_answered && has_ignored_enough(s, p)) [[unlikely]] {
    s.here().running = nullptr;
    if (auto const outside = unwind_ignorant(s, p)) return outside;
    return s.next();
  }
  p.mark_cancellable();
  s.put(thunk(&p), put_reason::yielded);
  return s.next();
}

// ---- giving way (TASK-6)

inline constexpr std::uint32_t tasks_per_check = 1024;
/// Whether to check the clock and the ready processes before `count` tasks are begun, the last of
/// which has the number `last` among the tasks of its process.
[[nodiscard]] constexpr bool is_check_due(std::uint32_t last, std::uint32_t count) noexcept {
  return last % tasks_per_check < count;
}
template <scheduling_services S>
[[gnu::noinline]] bool must_yield(S& s, std::uint32_t last, std::uint32_t count) noexcept {
  if (!is_check_due(last, count)) return false;
  if (s.has_alarms()) wake_due(s);
  return s.worker().has_other_work();
}
/// The running process yields, and begins `frame` in its next turn.  The answer of the yield, which
/// nothing reads, goes to `waiting`.
template <scheduling_services S>
std::coroutine_handle<> yield_before(S& s, std::coroutine_handle<> frame, result_slot_base& waiting,
                                     operation_info const& operation) noexcept {
  // Does not fail: no ordinary code stands between the process and the operation.
  (void)s.running().suspend_at(operation, frame, waiting, s);
  if constexpr (lazy_backend<typename S::backend_type>) s.worker().defer_lazy_tasks();
  s.put(s.box(), put_reason::yielded);
  return s.next();
}

// ---- beginning a join

template <scheduling_services S>
continuation end_task(task& t) noexcept;

template <scheduling_services S>
void begin_join(S& s, process& owner, join& j) noexcept {
  j.home = &s;
  j.on_task_end = end_task<S>;
  j.owner = &owner;
  j.numbers_before = owner.take_child_numbers(j.count);
}
/// The owner calls the first task now and pushes the others as lazy tasks.  It pushes the last one
/// first, as the newest is reclaimed first: so the tasks are done in their order.  `others`: how
/// many are pushed; a compile-time constant for a join of two.
template <scheduling_services S, class Others>
[[gnu::always_inline]] inline std::coroutine_handle<> push_and_call(S& s, join& j, void* evidence,
                                                                    Others others) {
  task* const tasks = j.tasks;
  auto const from_last = [=, t = tasks + 1 + others]() mutable noexcept -> lazy_task* {
    --t;
    t->first_frame_here().evidence = evidence;
    return t;
  };
  auto const pushed = s.worker().push_lazy(others, from_last);
  if (pushed == lazy_push::no_room) [[unlikely]]
    return do_all_slow(s, j, true);
  j.left = static_cast<std::int32_t>(others);
  auto const first = tasks->release();
  frame_of(first).evidence = evidence;
  if (pushed == lazy_push::unannounced) [[unlikely]]
    return announce_and_call(s, first);
  return first;
}
template <scheduling_services S>
[[gnu::noinline]] std::coroutine_handle<> announce_and_call(
    S& s, std::coroutine_handle<> first) noexcept {
  s.worker().announce_lazy();
  return first;
}
/// Does the tasks of a join, for a process that can call tasks.  The common case is a join of two
/// light tasks; other cases are noinline, so that the common case spills few registers.
template <scheduling_services S>
std::coroutine_handle<> do_all(S& s, join& j) {
  worker_state& w = s.here();
  begin_join(s, *w.running, j);
  auto const& last = w.last_row[false];
  if (s.cancellation.needs_attention() || last.row != j.rows->light ||
      is_check_due(j.numbers_before + j.count, j.count)) [[unlikely]]
    return do_all_slow(s, j, true);
  if (j.count == 2) [[likely]]
    return push_and_call(s, j, last.evidence, std::integral_constant<std::size_t, 1>());
  return do_many(s, j, last.evidence);
}
template <scheduling_services S>
[[gnu::noinline]] std::coroutine_handle<> do_many(S& s, join& j, void* evidence) {
  if (j.count != 1) return push_and_call(s, j, evidence, std::size_t{j.count - 1});
  j.tasks->first_frame_here().evidence = evidence;
  return j.tasks->release();
}
/// Does the tasks of a join in any case: also if the process cannot call tasks, if tasks are not
/// light, if the clock and the ready processes are to be checked now (TASK-6), or if a cancellation
/// needs attention.
template <scheduling_services S>
[[gnu::noinline]] std::coroutine_handle<> do_all_slow(S& s, join& j, bool can_call) {
  if (must_stop_at(s, j.owner_frame)) [[unlikely]] {
    for (task* t = j.tasks; t != j.tasks + j.count; ++t) t->set_fate(task::fate::not_done);
    return stop_cancelled(s, j.owner_frame, *j.waiting, info_of<tasking<>::wait>);
  }
  for (task *t = j.tasks, *const end = t + j.count; t != end; ++t)
    t->first_frame_here().evidence = s.evidence_for(t->row(), false, s.worker_here());
  if constexpr (lazy_backend<typename S::backend_type>)
    if (can_call &&
        std::all_of(j.tasks, j.tasks + j.count, [](task& t) { return t.row().is_light; })) {
      push_all_but_first(s, j);
      if (must_yield(s, j.numbers_before + j.count, j.count))
        return yield_before(s, j.tasks->release(), *j.waiting, info_of<tasking<>::wait>);
      return j.tasks->release();
    }
  return begin_as_processes(s, j);
}
template <scheduling_services S>
void push_all_but_first(S& s, join& j) noexcept {
  std::uint32_t const others = j.count - 1;
  if (others == 0) return;
  try {
    push_lazy_tasks(s.worker(), others,
                    [t = j.tasks + j.count]() mutable -> lazy_task* { return --t; });
    j.left = static_cast<std::int32_t>(others);
  } catch (...) {  // no memory: the owner calls them without a push
    j.not_pushed = others;
  }
}
template <scheduling_services S>
std::coroutine_handle<> begin_as_processes(S& s, join& j) {
  note_created(j.cancellation());
  note_created(&j.word);
  j.left = static_cast<std::int32_t>(j.count);
  for (task* t = j.tasks; t != j.tasks + j.count; ++t)
    if (thunk begun = t->promote()) s.put(std::move(begun), put_reason::started);
  return wait_for_others(s, j).resolve();
}
/// Pushes a reclaimed lazy task back, and announces it like a new one: thieves may have looked in
/// between, without seeing the task (BACKEND-6).
template <scheduling_services S>
void put_back(S& s, lazy_task& t) noexcept {
  push_lazy_tasks(s.worker(), 1, [&] { return &t; });  // does not throw: there is room
}

// ---- a task becomes a process (TASK-2)

/// Makes a process of the task.  Called by the worker that has taken the task, and will put or run
/// the process.  If the task is not to be done, or there is no memory, settles the task and returns
/// an empty thunk.
template <scheduling_services S>
thunk promote_task(S& s, any_task& t, process_id id) noexcept {
  using fate = any_task::fate;
  S::observer::on_event(s, {.process = id, .value = 1, .kind = trace_kind::task_taken});
  S::observer::on_group(s);
  frame& f = t.first_frame_here();
  result_slot_base* const to = f.to;
  process* p = nullptr;
  if (s.is_dropping_ || must_stop_at(s, continuation(t))) {
    t.drop_frame(fate::not_done);
  } else {
    try {
      p = process::start(id, t.frame(), f.evidence, s, s.unread_answer_, !S::on_several_threads,
                         S::header);
    } catch (...) {
      t.drop_frame(fate::no_memory);
    }
  }
  if (!p) {
    t.settle();
    return thunk::reason::quiescent;
  }
  (void)t.release();
  // The process was made with this frame as its first one, whose end would end the process.  From
  // now on the frame ends at the task instead, and its answer goes where that of the task goes
  // (TASK-2).
  f.to = to;
  f.parent = continuation(static_cast<frame_end&>(t));
  t.host = p;
  s.waits.groups.note_use();
  ++s.here().alive;
  if (s.is_limited()) [[unlikely]]
    s.waits.room.enter_anyway();
  return thunk(p);
}

// ---- a task ends

/// Returns the frame of a task that the owner has reclaimed, and calls.
inline std::coroutine_handle<> call_reclaimed(join& j, any_task& t) noexcept {
  std::coroutine_handle<> const frame = t.release();
  if (--j.left == 0) {  // the last task ends as a call does (TASK-7)
    frame_of(frame).parent = j.owner_frame;
    j.waiting->set();
  }
  return frame;
}
/// Called when the last frame of a task has ended.  Returns the frame or frame_end to run next.  In
/// the common case the owner has called the task, and the task has succeeded: then the owner's next
/// task is next, or the owner itself.
template <scheduling_services S>
continuation end_task(task& t) noexcept {
  join& j = t.its_join();
  S& s = static_cast<S&>(*j.home);
  // If the join is cancelled, its canceller has added a reason for attention.
  if (t.host || t.has_failed() || s.cancellation.needs_attention()) [[unlikely]]
    return end_task_slow(s, t);
  if constexpr (lazy_backend<typename S::backend_type>)
    if (j.left != 0) {
      // The tasks are called in their order.  So the next one is known, and reclaim() only tells
      // whether it is still in the deque.
      task& next = (&t)[1];
      lazy_task* const newest = s.worker().reclaim();
      if (newest != &next) [[unlikely]]
        return finish_without_lazy(s, j, newest);
      return call_reclaimed(j, next);
    }
  if (j.left != 0 || j.not_pushed != 0) [[unlikely]]
    return call_next(s, j);
  j.waiting->set();
  return j.owner_frame;
}
template <scheduling_services S>
[[gnu::noinline]] continuation end_task_slow(S& s, task& t) noexcept {
  join& j = t.its_join();
  if (S::observer::defers_task_end(s, t, t.has_failed())) return s.next();
  if (t.has_failed()) cancel_group(s, j);
  if (!t.host) return call_next(s, j);
  process& p = *t.host;
  count_ended(s, j);
  return p.end_from_task();
}
/// Ends a task whose end was deferred by an observer in end_task_slow().
template <scheduling_services S>
void end_deferred_task(S& s, task& t) noexcept {
  if (t.has_failed()) cancel_group(s, t.its_join());
  count_ended(s, t.its_join());
}
/// Ends a task whose frames have been unwound.  Returns the frame or frame_end outside the task.
template <scheduling_services S>
continuation drop_task(S& s, task& t) noexcept {
  continuation const outside = t.outside();
  t.set_fate(task::fate::not_done);
  count_ended(s, t.its_join());
  return outside;
}
/// Counts the end of a task that became a process (TASK-3).  The last such task makes the owner
/// ready, if the owner waits.
template <scheduling_services S>
void count_ended(S& s, join& j) noexcept {
  note_access(&j.word, true);
  // [1] release: pairs with [2] and [3]: the owner sees all that the task did.  acquire: pairs with
  // itself and with [3]: the worker that resumes the owner sees all that the tasks did, and finds
  // the owner suspended.
  if (j.word.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (j.held_unwinding) return continue_unwinding(j);
  j.waiting->set();
  process* const owner = s.waits.tasks.take_out(j.waiter());
  if (s.is_dropping_) {
    j.held_unwinding = owner;
    return continue_unwinding(j);
  }
  s.put(thunk(owner), put_reason::woken);
}

// ---- the owner goes on

/// Called when a task has ended that the owner has called.  Returns the frame or frame_end to run
/// next.  The join may be cancelled, and tasks may be left.
template <scheduling_services S>
[[gnu::noinline]] continuation call_next(S& s, join& j) noexcept {
  bool const goes_on = !j.is_cancelled() && !must_stop_at(s, continuation(*j.tasks));
  if constexpr (lazy_backend<typename S::backend_type>)
    while (j.left != 0) {
      lazy_task* const newest = s.worker().reclaim();
      if (!newest || static_cast<any_task*>(newest)->group != &j)
        return finish_without_lazy(s, j, newest);
      auto& t = static_cast<any_task&>(*newest);
      --j.left;
      if (goes_on) return t.release();
      t.set_fate(task::fate::not_done);
    }
  return call_rest(s, j, goes_on);
}
/// Continues call_next(), or end_task(), when `newest`, the newest lazy task, is null or of another
/// group.  Then other workers have taken the join's remaining tasks, or these lie below tasks that
/// were started later, and become processes in their turn.
template <scheduling_services S>
[[gnu::noinline]] continuation finish_without_lazy(S& s, join& j, lazy_task* newest) noexcept {
  if constexpr (lazy_backend<typename S::backend_type>)
    if (newest) put_back(s, *newest);
  bool const goes_on = !j.is_cancelled() && !must_stop_at(s, continuation(*j.tasks));
  return call_rest(s, j, goes_on);
}
/// Calls the tasks that were not pushed; then waits for those that other workers took, if any.
template <scheduling_services S>
continuation call_rest(S& s, join& j, bool goes_on) noexcept {
  for (; j.not_pushed != 0; --j.not_pushed) {
    task& t = j.tasks[j.count - j.not_pushed];
    if (goes_on) return --j.not_pushed, t.release();
    t.set_fate(task::fate::not_done);
  }
  // [2] acquire: pairs with [1]: if all tasks have ended, the owner sees all that they did.
  if (j.left != 0 && j.word.load(std::memory_order_acquire) != -j.left)
    return wait_for_others(s, j);
  j.waiting->set();
  return j.owner_frame;
}
template <scheduling_services S>
[[gnu::noinline]] continuation wait_for_others(S& s, join& j) noexcept {
  process& p = s.running();
  // Does not fail: no ordinary code stands between the process and the operation.
  (void)p.suspend_at(info_of<tasking<>::wait>, j.owner_frame, *j.waiting, s);
  s.on_wait_begin(p);
  j.make_waiter();
  j.waiter().parked.hold(p);
  s.waits.tasks.enter(j.waiter());
  begin_wait_for(s, j);
  // [3] acquire: pairs with [1]: if all tasks have ended, the owner sees all that they did.
  // release: pairs with [1]: the worker that resumes the owner finds it suspended.
  if (j.word.fetch_add(j.left, std::memory_order_acq_rel) == -j.left) {
    (void)s.waits.tasks.take_out(j.waiter());
    s.on_wait_cancelled(p);
    p.resume_unanswered(s);
    j.waiting->set();
    return j.owner_frame;
  }
  s.on_waiting(p);
  return s.next();
}

}  // namespace weft::detail
