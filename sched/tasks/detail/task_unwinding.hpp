// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <coroutine>
#include <cstdint>
#include <string>
#include <utility>

#include "weft/effects/handle.hpp"
#include "weft/sched/base/detail/location_listener.hpp"
#include "weft/sched/base/detail/program.hpp"
#include "weft/sched/base/detail/scheduling_services.hpp"
#include "weft/sched/base/process.hpp"
#include "weft/sched/tasks/detail/scope_core.hpp"
#include "weft/sched/tasks/detail/task.hpp"
#include "weft/sched/tasks/tasking.hpp"

/// How suspended frames to which tasks refer are unwound: not before these tasks have ended
/// (SUSPENSION-3, TASK-4).  `S` is a scheduler (backend_scheduler.hpp).
namespace weft::detail {

/// Unwinds `rest`, a suspended chain in which the task `t` of a join runs as a call of its owner
/// (TASK-1): the frames of the task at once, the frames of the owner when the join is over.
template <scheduling_services S>
void unwind_task(S& s, task& t, suspension& rest) noexcept {
  join& j = t.its_join();
  t.set_fate(task::fate::not_done);
  rest.unwind_up_to(t, j.owner_frame);
  j.held_unwinding = &rest;
  cancel_group(s, j);  // so a worker that takes a lazy task of the join does not begin it
  std::int32_t const left = j.left;
  // acq_rel: as in [3] of join_algorithm.hpp.  If tasks are left, the join may be destroyed after
  // this step.
  if (j.word.fetch_add(left, std::memory_order_acq_rel) == -left) continue_unwinding(j);
}
/// Unwinds `rest`, a suspended chain in which `r` runs as a call: a task that was started in a
/// scope, or that is waited for by its handle.
template <scheduling_services S>
void unwind_task(S& s, task_record& r, suspension& rest) noexcept {
  auto const from = r.called_from;
  r.set_fate(any_task::fate::not_done);
  scope_core* const c = r.called_by ? nullptr : r.scope();
  rest.unwind_up_to(r, from);
  settle_record(s, r);
  if (!c) return rest.unwind_on();
  // The task was called at the end of its scope.
  c->held_unwinding = &rest;
  c->here.scope = nullptr;
  c->here.unwinds_for = c;
  cancel_group(s, *c);
  if (!must_wait_for(s, *c, false)) continue_unwinding(*c);
}
/// Unwinds `rest`, a chain that runs the body of a scope: the frames of the body at once, those
/// further out when the scope is over.
template <scheduling_services S>
void unwind_scope(S& s, scope_core& c, suspension& rest) noexcept {
  // release: as [2] of scope_core.hpp: a canceller that finds the body closed sees the tasks that
  // the body has started.
  c.body_is_open.store(false, std::memory_order_release);
  cancel_group(s, c);
  rest.unwind_up_to(c, c.owner_frame);
  c.held_unwinding = &rest;
  c.here.scope = nullptr;
  c.here.unwinds_for = &c;
  if (!must_wait_for(s, c, false)) continue_unwinding(c);
}

// ---- processes that ignore their cancellation

/// The innermost scope to whose body the frame `at` belongs; null if the end of a task, or of the
/// process, is nearer.
[[nodiscard]] inline scope_core* scope_of_body(continuation at) noexcept {
  while (!at.is_ordinary_code()) {
    if (at.is_frame()) {
      at = frame_of(at.frame()).parent;
      continue;
    }
    frame_end& e = at.end();
    if (auto* const g = static_cast<task_group*>(e.as_group())) {
      auto* const c = g->is_scope() ? static_cast<scope_core*>(g) : nullptr;
      return c == &e ? c : nullptr;
    }
    at = e.outside();
  }
  return nullptr;
}
/// Whether the process was made for a task of a group, and no scope or called task stands inside
/// that task: then all frames of the process belong to it.
[[nodiscard]] inline bool is_whole_task(process const& p) noexcept {
  for (continuation at(p.leaf()); !at.is_ordinary_code();) {
    if (at.is_frame()) {
      at = frame_of(at.frame()).parent;
      continue;
    }
    if (at.end().as_group()) return !at.end().pins_outer_frames();
    at = at.end().outside();
  }
  return false;
}
/// The failure of a process that is unwound with frames outside of the scope that was cancelled.
[[nodiscard]] std::exception_ptr unwound_where_it_stands(process const& p) noexcept;
/// Unwinds frames of a process that has gone on after many cancellations: those in the body of the
/// innermost scope.  Returns the frame that has opened the scope, to be resumed: it cancels the
/// scope, and throws `cancelled` when the scope is over.  If the process is in a task inside the
/// body, or in no scope, or all processes are cancelled, unwinds the whole process, and returns
/// null.
template <scheduling_services S>
std::coroutine_handle<> unwind_ignorant(S& s, process& p) noexcept {
  bool const all_are = s.cancellation.is_of_all();
  if (scope_core* const c = all_are ? nullptr : scope_of_body(p.leaf())) {
    c->was_unwound = true;
    c->body_has_ended();
    auto const outside = p.unwind_inside(*c, c->owner_frame, *c->around_body, s);
    s.here().running = &p;
    return outside;
  }
  if (all_are) report_left(s, p);
  s.retire(&p, all_are || is_whole_task(p) ? nullptr : unwound_where_it_stands(p));
  return nullptr;
}
/// Whether the process has ignored its cancellation long enough to be unwound (unwind_ignorant()).
/// If tasks work for frames that would be unwound, cancels these tasks, and returns false: the
/// process finds `cancelled` until they have ended.
template <scheduling_services S>
[[nodiscard]] bool has_ignored_enough(S& s, process& p) noexcept {
  if (p.note_cancellation() <= s.patience()) return false;
  scope_core* const c = s.cancellation.is_of_all() ? nullptr : scope_of_body(p.leaf());
  if (!c) return true;
  frame_end* const pin = find_pin(continuation(p.leaf()), *c);
  if (!pin || pin == c) return true;
  abandon_all(continuation(p.leaf()), *c);
  return false;
}

// ---- clauses that have dropped a continuation: at the end of the clause (end_of_clause.hpp) the
// process waits, as at the end of a scope

/// The frame_end of the coroutine waits(), inside the end of the clause.  The dropped continuation
/// counts as the only task of `scope_`, so waits() goes on when the continuation can be unwound.
template <scheduling_services S>
class dropped_remainder final : public frame_end, public end_of_clause::waiting, public pooled {
 public:
  dropped_remainder(S& home, process& p, end_of_clause& at)
      : home_(home), at_(at), done_(at.handlers_prompt().installed_at()) {
    first_frame const first = first_frame_of(waits(*this));
    try {
      first_frame_ = first.handle;
      frame_of(first.handle).evidence = home.evidence_for(*first.row, false, home.worker_here());
    } catch (...) {
      first.handle.destroy();
      throw;
    }
    frame_of(first.handle).parent = continuation(static_cast<frame_end&>(*this));
    frame_of(first.handle).to = &done_;
    open_scope(home, scope_, p, first.handle);
  }
  dropped_remainder(dropped_remainder const&) = delete;
  dropped_remainder& operator=(dropped_remainder const&) = delete;

  std::coroutine_handle<> begin() noexcept {
    wait();
    return first_frame_;
  }

 private:
  using here = tasking<>;
  static eff<void, here> waits(dropped_remainder& r) {
    for (;;) {
      for (bool is_free = false; !is_free;)
        is_free = co_await located(here::leave(r.scope_), r.done_.where);
      if (r.at_.unwind()) break;
      r.wait();  // another scope, further out, pins the remainder
    }
  }
  void wait() noexcept {
    scope_.count.add_one();
    if (at_.wait_with(*this)) on_remainder_free();
  }
  void on_remainder_free() noexcept override { count_ended(home_, scope_); }

  continuation ended() noexcept override { return done(); }
  continuation dropped() noexcept override { return done(); }
  [[nodiscard]] std::string text() const override {
    return "tasks of frames that a clause has dropped";
  }
  [[nodiscard]] continuation outside() const noexcept override {
    return continuation(static_cast<frame_end&>(at_));
  }
  [[nodiscard]] bool lost() const noexcept override { return false; }
  continuation done() noexcept {
    continuation const at = outside();
    delete this;
    return at;
  }

  S& home_;
  end_of_clause& at_;
  result_slot<void> done_;
  std::coroutine_handle<> first_frame_;
  scope_core scope_;
};

/// Returns the frame that waits until the continuation which the clause has dropped is unwound.
template <scheduling_services S>
std::coroutine_handle<> wait_for_dropped_remainder(S& s, end_of_clause& at) noexcept {
  note_access(static_cast<suspension*>(&at.handlers_prompt()), true);
  while_unwinding const here;
  try {
    return (new dropped_remainder<S>(s, s.running(), at))->begin();
  } catch (...) {
    no_memory_to_unwind();
  }
}

}  // namespace weft::detail
