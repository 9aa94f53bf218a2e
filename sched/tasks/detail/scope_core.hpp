// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <coroutine>
#include <cstdio>
#include <exception>
#include <mutex>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "effects/handle.hpp"
#include "sched/base/detail/deferred_events.hpp"
#include "sched/tasks/detail/join_table.hpp"
#include "sched/tasks/detail/task.hpp"
#include "sched/tasks/detail/task_errors.hpp"
#include "sched/tasks/detail/task_words.hpp"

/// Tasks that are started one by one, in a scope or without one.
///
///   SCOPE-1  A task of a scope is counted by it, unless it has a handle: then it stands on the scope's
///       list, and says itself that it has ended.  So whoever ends takes one atomic step.
///   SCOPE-2  A scope is over when its body has ended, its count is zero, and all on its list have
///   ended.
///       Its tasks may start others in it until they end, so who looks looks again until nothing
///       is new.
///   SCOPE-3  A task with a handle is there until it has ended, the handle is gone, and the scope is
///       over; without a scope, until the first two; without a handle, until it has ended.
namespace weft::detail {

struct task_wait;

/// What a scheduler does for scopes.
class scope_runner : public task_runner {
 public:
  /// Of the process that runs.  Throws std::logic_error if none does.
  virtual void start(task_record& r) = 0;
  /// SCOPE-3.
  virtual void on_last_reference(task_record& r) noexcept = 0;
  virtual void scope_unwinds(scope_core& s, suspension& h) noexcept = 0;

 protected:
  ~scope_runner() = default;
};

/// A task, where it is started.
class task_record : public any_task, public waitable_task {
 public:
  task_record(task_record const&) = delete;
  task_record& operator=(task_record const&) = delete;

  virtual void destroy() noexcept = 0;
  /// What it threw; null if nothing.
  [[nodiscard]] virtual std::exception_ptr error() const noexcept = 0;
  [[nodiscard]] process_id id() const noexcept { return parent.child(number); }
  /// Null: of none.
  [[nodiscard]] inline scope_core* of() const noexcept;
  /// The scheduler of one that was in a scope may be gone; of others it is kept until then.
  void drop_handle() noexcept {
    if (!group) note_access(static_cast<waitable_task*>(this), true);  // whose is what it throws?
    if (!state.drop_handle()) return;
    if (group)
      destroy();
    else
      home->on_last_reference(*this);
  }

  [[nodiscard]] thunk promote() noexcept override { return home->begin_task(*this, id()); }
  continuation ended() noexcept override { return home->task_ended(*this); }
  continuation dropped() noexcept override { return home->task_dropped(*this); }
  void settle() noexcept override { home->task_is_over(*this); }
  inline void on_abandoned() noexcept override;
  void unwind_later(suspension& h) noexcept override { home->task_unwinds(*this, h); }
  [[nodiscard]] inline cancel_state query_cancellation(
      continuation& outwards) const noexcept override;
  [[nodiscard]] continuation outside() const noexcept override {
    return host ? continuation(*host) : continuation(called_from);
  }

  scope_runner* home = nullptr;  // written when it is started, as the next two
  process_id parent;
  std::uint32_t number = 0;              // among the children of that
  task_record* next_in_scope = nullptr;  // SCOPE-1
  task_record* next_hosted;              // while it is hosted (task_cancelling.hpp)
  task_record* previous_hosted;
  std::coroutine_handle<> called_from;  // while it is done in a call: who waits for it,
  task_wait* called_by = nullptr;       // and how: null if it is the scope, at its end
  process* called_in = nullptr;         // where it is done in a call by who waits for it
  bool const has_handle;
  // Whoever waited knows what it threw.  Relaxed: the handle, or the scope, has heard of it from
  // them.
  std::atomic<bool> was_looked_at = false;

 protected:
  task_record(bool with_handle, bool in_a_scope) noexcept
      : waitable_task(in_a_scope), has_handle(with_handle) {}
  ~task_record() { destroy_frame(); }
};

/// What a process waits for that awaits a handle: the first of its tasks that has not ended.
struct task_wait {
  explicit task_wait(waitable_task* t) noexcept : first(t) {}
  task_wait(task_wait&&) noexcept = default;
  task_wait& operator=(task_wait&&) = delete;

  waitable_task* first;
  task_waiter here{false};
  // While one of them is done in a call.
  std::coroutine_handle<> leaf{};
  result_slot_base* waiting = nullptr;
  operation_info const* operation = nullptr;
};

/// What with_scope has in its frame.  Its body ends here.
class scope_core : public task_group, public frame_end {
 public:
  scope_core() noexcept : task_group(true) { note_pinning(); }
  ~scope_core() {
    apply_events_at(this);
    if (!count.is_zero() || not_ended()) [[unlikely]]
      end_of_the_program();
    let_go();
    if (is_cancelled()) home->on_group_end(*this);
  }

  // ---- as the end of the body's chain

  continuation ended() noexcept override {
    body_has_ended();
    return leaf;
  }
  /// Where steps are as small as operations it ends when its process leaves.
  void body_has_ended() noexcept {
    // [2] release: with is_empty(), which sees what the body has started.
    if (!event_deferrer::of_thread) body_is_open.store(false, std::memory_order_release);
  }
  continuation dropped() noexcept override { return leaf; }
  [[nodiscard]] std::string text() const override { return "a scope"; }
  [[nodiscard]] continuation outside() const noexcept override { return leaf; }
  [[nodiscard]] bool lost() const noexcept override { return false; }
  [[nodiscard]] bool pins_outer_frames() const noexcept override { return true; }
  [[nodiscard]] task_group* as_group() const noexcept override {
    return const_cast<scope_core*>(this);
  }
  void on_abandoned() noexcept override { home->cancel(*this); }
  void unwind_later(suspension& h) noexcept override { home->scope_unwinds(*this, h); }
  [[nodiscard]] cancel_state query_cancellation(continuation& outwards) const noexcept override {
    note_access(&cancelled, false);
    outwards = leaf;
    return is_cancelled() ? cancel_state::cancelled : cancel_state::unknown;
  }

  // ---- its tasks

  void add(task_record& r) noexcept {
    if (!r.has_handle) return count.add_one();
    r.next_in_scope = records.load(std::memory_order_relaxed);  // relaxed: [1] makes sure
    // [1] release: with is_over().
    while (!records.compare_exchange_weak(r.next_in_scope, &r, std::memory_order_release,
                                          std::memory_order_relaxed)) {
    }
  }
  /// Nobody is inside any more, nor will be (SCOPE-2): who cancels it has nobody to look for.
  [[nodiscard]] bool is_empty() const noexcept {
    // acquire: with [2].
    return !body_is_open.load(std::memory_order_acquire) && count.is_zero() && !not_ended();
  }
  /// One that has not ended; null if all have (SCOPE-2).
  [[nodiscard]] task_record* not_ended() const noexcept {
    // acquire: with [1].
    for (auto* first = records.load(std::memory_order_acquire);;) {
      for (auto* r = first; r; r = r->next_in_scope)
        if (!r->has_ended()) return r;
      auto* const again = records.load(std::memory_order_acquire);
      if (again == first) return nullptr;
      first = again;
    }
  }
  void failed(process_id id, std::exception_ptr error) noexcept {
    std::lock_guard const lock(mutex);
    try {
      errors.add(id, std::move(error));
    } catch (...) {
      has_lost_an_error = true;
    }
  }
  /// One that was to end: of all of these the first will do, and none beside what one threw.
  void note_left_undone(process_id id) noexcept {
    {
      std::lock_guard const lock(mutex);
      if (!errors.empty()) return;
    }
    failed(id, std::make_exception_ptr(weft::cancelled()));
  }
  /// All have ended: those that nobody else has go.
  void let_go() noexcept {
    for (auto* r = records.exchange(nullptr, std::memory_order_relaxed); r;) {  // relaxed: ours
      auto* const next = r->next_in_scope;
      note_access(static_cast<waitable_task*>(r), false);
      // Relaxed: a note.
      if (!r->was_looked_at.load(std::memory_order_relaxed)) {
        if (r->error()) failed(r->id(), r->error());
        if (r->fate_of_run() == any_task::fate::no_memory)
          failed(r->id(), std::make_exception_ptr(std::bad_alloc()));
      }
      if (r->state.let_go()) r->destroy();
      r = next;
    }
  }

  /// All have ended, and those that nobody else has go: throws what there is.
  void finish(std::exception_ptr of_body) {
    let_go();
    if (errors.empty() && !of_body && !has_lost_an_error) [[likely]]
      return;
    task_errors all = std::move(errors);
    if (expects_cancelled || has_lost_an_error) all.drop_cancelled();
    // One that is lost may be why the others were cancelled.
    if (has_lost_an_error && of_body && weft::detail::is_cancelled(of_body)) of_body = nullptr;
    all.add(owner_id, std::move(of_body));
    all.throw_them();
    if (has_lost_an_error) throw std::bad_alloc();
  }

  [[noreturn, gnu::cold, gnu::noinline]] static void end_of_the_program() noexcept {
    std::fputs(
        "weft: a scope ended while tasks were open in it, as its end could not be reached by "
        "its process\n",
        stderr);
    std::terminate();
  }

  scope_runner* home = nullptr;
  task_count<> count;                           // SCOPE-1: of those without a handle
  std::atomic<task_record*> records = nullptr;  // SCOPE-1
  task_record* first_hosted = nullptr;          // task_cancelling.hpp
  std::atomic<bool> body_is_open = true;        // seen sooner or later
  bool has_lost_an_error = false;               // for want of memory; under `mutex`
  std::atomic<bool> expects_cancelled =
      false;  // by who has the scope: so it is no error that tasks heed it
  std::mutex mutex;
  task_errors errors;  // under `mutex`: of those without a handle
  // While it waits at its end.
  result_slot_base* waiting = nullptr;
  operation_info const* operation = nullptr;
};

scope_core* task_record::of() const noexcept { return static_cast<scope_core*>(group); }
/// As a call of its scope, at the end of that.
void task_record::on_abandoned() noexcept {
  if (group && !called_by) home->cancel(*group);
}
frame_end::cancel_state task_record::query_cancellation(continuation& outwards) const noexcept {
  if (!group) return cancel_state::shielded;
  note_access(&group->cancelled, false);
  outwards = group->leaf;
  if (group->is_cancelled()) return cancel_state::cancelled;
  // It is in its owner's chain while that calls it at the scope's end.
  return called_from && !called_by ? cancel_state::unknown : cancel_state::elsewhere;
}

}  // namespace weft::detail
