// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <atomic>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "sched/base/backend.hpp"
#include "sched/runtime/detail/scheduling.hpp"
#include "sched/tasks/detail/task_service.hpp"

/// How a process begins the tasks of a join: offered, or as processes (TASK-1 of task.hpp).
namespace weft::detail {

/// The first one is done now, the others are offered: the newest is taken back first, so they are
/// done in their order.  What is rare is out of line: so nothing is saved for it.
template <class S>
std::coroutine_handle<> task_service<S>::do_all(join& j) {
  desk& d = self().here();
  is_begun_by(*d.running, j);
  auto const& last = d.last_row[false];
  if (self().must_look_up() || last.row != j.light_row ||
      is_time_to_look(j.first_number + j.count - 1, j.count)) [[unlikely]]
    return do_all_rarely(j, true);
  note_pinning();
  if (j.count == 2) [[likely]]
    return offer_and_do(j, last.evidence, std::integral_constant<std::size_t, 1>());
  return do_many(j, last.evidence);
}
template <class S>
[[gnu::noinline]] std::coroutine_handle<> task_service<S>::do_many(join& j, void* evidence) {
  if (j.count != 1) return offer_and_do(j, evidence, std::size_t{j.count - 1});
  j.tasks->first_frame_here().evidence = evidence;
  return j.tasks->release();
}
template <class S>
template <class Others>
std::coroutine_handle<> task_service<S>::offer_and_do(join& j, void* evidence, Others others) {
  auto const with_evidence = [evidence](task& t) -> task& {
    t.first_frame_here().evidence = evidence;
    return t;
  };
  auto const from_last = [=, t = j.tasks + 1 + others]() mutable noexcept -> lazy_task* {
    return &with_evidence(*--t);
  };
  auto const put = self().worker().push_lazy(others, from_last);
  if (put == lazy_push::no_room) [[unlikely]]
    return do_all_rarely(j, true);
  j.left = static_cast<std::int32_t>(others);
  task& first = with_evidence(*j.tasks);
  if (put == lazy_push::unannounced) [[unlikely]]
    return tell(first);
  return first.release();
}
template <class S>
[[gnu::noinline]] std::coroutine_handle<> task_service<S>::tell(task& first) noexcept {
  self().worker().announce_lazy();
  return first.release();
}
template <class S>
void task_service<S>::is_begun_by(process& p, join& j) noexcept {
  j.home = this;
  j.owner = &p;
  j.owner_id = p.id();
  j.first_number = p.next_child_number(j.count);
  j.some_were_left.store(false, std::memory_order_relaxed);  // relaxed: ours until it is offered
}
template <class S>
[[gnu::noinline]] std::coroutine_handle<> task_service<S>::do_all_rarely(join& j, bool can_call) {
  if (is_to_stop_at(j.leaf)) [[unlikely]] {
    for (task* t = j.tasks; t != j.tasks + j.count; ++t) t->is_left_as(task::fate::not_done);
    return is_told(j.leaf, *j.waiting, *j.operation);
  }
  for (task *t = j.tasks, *const end = t + j.count; t != end; ++t)
    t->first_frame_here().evidence = self().evidence_for(t->row(), false);
  if constexpr (lazy_backend<typename S::backend_type>)
    if (can_call &&
        std::all_of(j.tasks, j.tasks + j.count, [](task& t) { return t.row().is_light; })) {
      note_pinning();
      offer_all_but_first(j);
      if (gives_way(j.first_number + j.count - 1, j.count))
        return give_way(j.tasks->release(), *j.waiting, *j.operation);
      return j.tasks->release();
    }
  return begin_everywhere(j);
}
template <class S>
[[gnu::noinline]] bool task_service<S>::gives_way(std::uint32_t last,
                                                  std::uint32_t count) noexcept {
  if (!is_time_to_look(last, count)) return false;
  if (self().must_keep_time()) self().wake_who_is_due();
  return self().worker().has_other_work();
}
/// The process that runs lets others go first, and then begins that frame, which is to answer
/// there.
template <class S>
std::coroutine_handle<> task_service<S>::give_way(std::coroutine_handle<> frame,
                                                  result_slot_base& waiting,
                                                  operation_info const& operation) noexcept {
  (void)self().running().stop_at(operation, frame, waiting, self());  // it can be
  if constexpr (lazy_backend<typename S::backend_type>) self().worker().defer_lazy_tasks();
  self().put(self().box(), put_reason::yielded);
  return self().next();
}
template <class S>
void task_service<S>::offer_all_but_first(join& j) noexcept {
  std::uint32_t const others = j.count - 1;
  if (others == 0) return;
  try {
    push_lazy_tasks(self().worker(), others,
                    [t = j.tasks + j.count]() mutable -> lazy_task* { return --t; });
    j.left = static_cast<std::int32_t>(others);
  } catch (...) {  // no memory: then the owner does them, from the second on
    j.not_offered = others;
  }
}
template <class S>
std::coroutine_handle<> task_service<S>::begin_everywhere(join& j) {
  note_created(&j.cancelled);
  note_created(&j.word);
  j.left = static_cast<std::int32_t>(j.count);
  for (task* t = j.tasks; t != j.tasks + j.count; ++t)
    if (thunk begun = t->promote()) self().put(std::move(begun), put_reason::started);
  return wait_for_rest(j).resolve();
}

/// Where it was; who looked meanwhile has not seen it.
template <class S>
void task_service<S>::put_back(lazy_task& o) noexcept {
  push_lazy_tasks(self().worker(), 1, [&] { return &o; });  // there is room
}

}  // namespace weft::detail
