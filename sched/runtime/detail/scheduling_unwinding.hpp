// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <coroutine>
#include <cstdint>
#include <utility>

#include "sched/base/detail/program.hpp"
#include "sched/runtime/detail/scheduling.hpp"
#include "sched/tasks/detail/task_service.hpp"
#include "sched/tasks/tasking.hpp"

/// What a scheduler does for those who are unwound while tasks do something for them (SUSPENSION-3 of
/// suspension.hpp, TASK-4 of task.hpp).
namespace weft::detail {

template <class S>
void task_service<S>::task_unwinds(task& t, suspension& h) noexcept {
  join& j = t.of();
  t.is_left_as(task::fate::not_done);
  h.unwind_up_to(t, j.leaf);
  j.leaving = &h;
  cancel(j);  // those that are offered: whoever takes one does not begin it
  // As [3] of scheduling_tasks.hpp.  If it is not the last the join may be gone then.
  std::int32_t const left = j.left;
  if (j.word.fetch_add(left, std::memory_order_acq_rel) == -left) go_on_unwinding(j);
}
/// One after the other: the end of one may be that of the next further out.
template <class S>
void task_service<S>::go_on_unwinding(task_group& g) noexcept {
  static thread_local task_group* first = nullptr;
  static thread_local bool is_at_it = false;
  g.next_leaving = std::exchange(first, &g);
  if (std::exchange(is_at_it, true)) return;
  while (first) {
    suspension* const h = std::exchange(first, first->next_leaving)->leaving;
    note_access(h, true);
    h->unwind_on();
  }
  is_at_it = false;
}

/// Of a body that is unwound: what is inside of it.
template <class S>
void task_service<S>::scope_unwinds(scope_core& s, suspension& h) noexcept {
  s.body_is_open.store(false, std::memory_order_release);  // release: [2] of scope_core.hpp
  cancel(s);
  h.unwind_up_to(s, s.leaf);
  s.leaving = &h;
  s.here.of = nullptr;
  s.here.leaves = &s;
  if (!waits_on(s, false)) go_on_unwinding(s);
}
/// Of a task that is done as a call.
template <class S>
void task_service<S>::task_unwinds(task_record& r, suspension& h) noexcept {
  auto const from = r.called_from;
  r.is_left_as(any_task::fate::not_done);
  scope_core* const s = r.called_by ? nullptr : r.of();
  h.unwind_up_to(r, from);
  task_is_over(r);
  if (!s) return h.unwind_on();
  // Its scope was at its end.
  s->leaving = &h;
  s->here.of = nullptr;
  s->here.leaves = s;
  cancel(*s);
  if (!waits_on(*s, false)) go_on_unwinding(*s);
}

// ---- clauses that have dropped the rest: at the end (end_of_clause.hpp) the process waits, as it
// does at the end of a scope

/// Between the frame that waits and the end of the clause.  What is to be unwound is the one task.
template <class S>
class rest_of_clause final : public frame_end, public end_of_clause::waiting, public pooled {
 public:
  rest_of_clause(task_service<S>& home, process& p, end_of_clause& at)
      : home_(home), at_(at), done_(at.handlers_prompt().installed_at()) {
    first_frame const first = first_frame_of(waits(*this));
    try {
      first_frame_ = first.handle;
      frame_of(first.handle).evidence = home.self().evidence_for(*first.row, false);
    } catch (...) {
      first.handle.destroy();
      throw;
    }
    frame_of(first.handle).parent = continuation(static_cast<frame_end&>(*this));
    frame_of(first.handle).to = &done_;
    home.is_opened(scope_, p, first.handle);
  }
  rest_of_clause(rest_of_clause const&) = delete;
  rest_of_clause& operator=(rest_of_clause const&) = delete;

  std::coroutine_handle<> begin() noexcept {
    wait();
    return first_frame_;
  }

 private:
  using here = tasking<>;
  static eff<void, here> waits(rest_of_clause& r) {
    for (;;) {
      for (bool is_free = false; !is_free;)
        is_free = co_await located(here::leave(r.scope_), r.done_.where);
      if (r.at_.unwind()) break;
      r.wait();  // for another scope, further out
    }
  }
  void wait() noexcept {
    scope_.count.add_one();
    if (at_.wait_with(*this)) on_rest_free();
  }
  void on_rest_free() noexcept override { home_.one_has_ended(scope_); }

  continuation ended() noexcept override { return done(); }
  continuation dropped() noexcept override { return done(); }
  [[nodiscard]] std::string text() const override { return "tasks of what a clause has dropped"; }
  [[nodiscard]] continuation outside() const noexcept override {
    return continuation(static_cast<frame_end&>(at_));
  }
  [[nodiscard]] bool lost() const noexcept override { return false; }
  continuation done() noexcept {
    continuation const at = outside();
    delete this;
    return at;
  }

  task_service<S>& home_;
  end_of_clause& at_;
  result_slot<void> done_;
  std::coroutine_handle<> first_frame_;
  scope_core scope_;
};

template <class S>
std::coroutine_handle<> task_service<S>::wait_at(end_of_clause& at) noexcept {
  note_access(static_cast<suspension*>(&at.handlers_prompt()), true);
  while_unwinding const here;
  try {
    return (new rest_of_clause<S>(*this, self().running(), at))->begin();
  } catch (...) {
    no_memory_to_unwind();
  }
}

}  // namespace weft::detail
