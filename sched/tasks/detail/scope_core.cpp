// SPDX-License-Identifier: MIT
#include "weft/sched/tasks/detail/scope_core.hpp"

#include <atomic>
#include <cstdio>
#include <exception>
#include <mutex>
#include <new>
#include <string>
#include <utility>

#include "weft/effects/handle.hpp"
#include "weft/sched/base/detail/deferred_events.hpp"
#include "weft/sched/base/errors.hpp"

namespace weft::detail {

std::string scope_core::text() const { return "a scope of process " + owner_id.text(); }

void scope_core::add_error(process_id id, std::exception_ptr error) noexcept {
  std::lock_guard const lock(mutex);
  try {
    errors.add(id, std::move(error));
  } catch (...) {
    has_lost_an_error = true;
  }
}
void scope_core::add_error_of(task_record const& r) noexcept {
  if (r.error()) {
    // A task that its scope has cancelled has not failed.
    if (is_cancelled() && weft::detail::is_cancelled(r.error())) return note_left_undone();
    add_error(r.id(), r.error());
  }
  if (r.fate_of_run() == any_task::fate::no_memory)
    add_error(r.id(), std::make_exception_ptr(std::bad_alloc()));
}
std::exception_ptr scope_core::error_of_all(std::exception_ptr of_body, bool yields,
                                            scope_end_reason why) {
  task_errors all = std::move(errors);
  if (expects_cancelled || has_lost_an_error) all.drop_cancelled();
  // The lost error may be the reason why the body was cancelled.
  if (has_lost_an_error && of_body && weft::detail::is_cancelled(of_body)) of_body = nullptr;
  bool const is_owed = !of_body && !yields && !expects_cancelled && !has_lost_an_error;
  all.add(owner_id, std::move(of_body));
  // relaxed: all tasks have ended.
  if (is_owed && all.empty() && left_undone.load(std::memory_order_relaxed))
    all.add(owner_id, std::make_exception_ptr(weft::cancelled()));
  if (why != scope_end_reason::none && all.is_only_cancelled() &&
      !home->has_cancelled(continuation(owner_frame))) {
    if (why == scope_end_reason::deadline) return std::make_exception_ptr(timed_out());
    return std::make_exception_ptr(
        weft::cancelled("weft: cancelled, because a stop of the scope was requested"));
  }
  if (auto error = all.take()) return error;
  return has_lost_an_error ? std::make_exception_ptr(std::bad_alloc()) : nullptr;
}
weft::cancelled scope_core::why_unwound() noexcept {
  return weft::cancelled(
      "weft: cancelled, because the tasks that wait for this are cancelled; the body of a scope "
      "has ignored that, and was unwound");
}
std::exception_ptr unwound_where_it_stands(process const& p) noexcept {
  return std::make_exception_ptr(std::runtime_error(
      "weft: process " + p.id().text() +
      " went on after a hundred cancellations, and was unwound in " + p.waits_at_text() +
      ", with code outside of the scope that was cancelled"));
}
void scope_core::end_of_the_program() noexcept {
  std::fputs(
      "weft: a scope ended while tasks were open in it, as its end could not be reached by "
      "its process\n",
      stderr);
  std::terminate();
}

void task_record::drop_handle() noexcept {
  // Without a scope, the end of the handle may decide where the error of the task goes.
  if (!group) note_access(static_cast<waitable_task*>(this), true);
  if (!state.drop_handle()) return;
  if (group)
    destroy();
  else
    home->on_last_reference(*this);
}

scope_core::~scope_core() {
  leave_tree();
  apply_events_at(this);
  if (!count.is_zero() || not_ended()) [[unlikely]]
    end_of_the_program();
  release_records();
  if (is_cancelled()) home->on_group_end(*this);
}
bool scope_core::may_resume_inside() const noexcept {
  note_access(cancellation(), false);  // the body may find a cancellation in this step (CANCEL-6)
  if (!home->runs_owner(*this)) return false;
  // False while the owner runs a task of the scope as a call: the body would wait for the task, and
  // the task for the body.  acquire: as in not_ended().
  for (auto* r = records.load(std::memory_order_acquire); r; r = r->next_in_scope)
    // relaxed: this process has set the flag.
    if (r->is_called_by_owner.load(std::memory_order_relaxed) && !r->state.has_ended())
      return false;
  return true;
}
frame_end::cancel_state scope_core::query_cancellation(continuation& outwards) const noexcept {
  note_access(cancellation(), false);
  outwards = owner_frame;
  return is_cancelled() ? cancel_state::cancelled : cancel_state::unknown;
}
task_record* scope_core::not_ended() const noexcept {
  // acquire, twice: pairs with [1] in add(): a task that is found on the list is seen complete.
  for (auto* first = records.load(std::memory_order_acquire);;) {
    for (auto* r = first; r; r = r->next_in_scope)
      if (!r->has_ended()) return r;
    auto* const again = records.load(std::memory_order_acquire);  // acquire: with [1] of add()
    if (again == first) return nullptr;
    first = again;
  }
}
void scope_core::release_records() noexcept {
  // relaxed: all tasks have ended, so no other thread uses the list.
  for (auto* r = records.exchange(nullptr, std::memory_order_relaxed); r;) {
    auto* const next = r->next_in_scope;
    note_access(static_cast<waitable_task*>(r), false);
    // relaxed: a flag, which publishes no data.
    if (!r->was_awaited.load(std::memory_order_relaxed)) add_error_of(*r);
    if (r->state.let_go()) r->destroy();
    r = next;
  }
}

void task_record::on_abandoned() noexcept {
  if (group && !called_by) home->cancel(*group);
}
frame_end::cancel_state task_record::query_cancellation(continuation& outwards) const noexcept {
  if (!group) return cancel_state::shielded;
  note_access(group->cancellation(), false);
  outwards = group->owner_frame;
  if (group->is_cancelled()) return cancel_state::cancelled;
  // If the owner calls the task at the scope's end, group->owner_frame is in the same chain as the
  // task's frames: `unknown`.  Else group->owner_frame is in another chain.
  return called_from && !called_by ? cancel_state::unknown : cancel_state::elsewhere;
}

}  // namespace weft::detail
