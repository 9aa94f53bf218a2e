// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <coroutine>
#include <exception>
#include <mutex>
#include <string>
#include <utility>

#include "weft/effects/handle.hpp"
#include "weft/sched/base/detail/deferred_events.hpp"
#include "weft/sched/tasks/detail/task.hpp"
#include "weft/sched/tasks/detail/task_errors.hpp"
#include "weft/sched/tasks/detail/task_room.hpp"
#include "weft/sched/tasks/detail/task_words.hpp"

/// Tasks that are started one by one, in a scope or without one.
///
///   SCOPE-1  A scope counts its tasks without a handle.  A task with a handle is on the scope's
///       list instead, and has its own word for its end.  So the end of a task takes one atomic
///       step.
///   SCOPE-2  A scope is over when its body has ended, its count is zero, and all tasks on its list
///       have ended.  Its tasks may start others in it until they end, so the check is repeated
///       until it finds nothing new.
///   SCOPE-3  A task with a handle lives until it has ended, the handle is destroyed, and its
///       scope, if it has one, is over.  A task without a handle lives until it has ended.
namespace weft::detail {

struct task_wait;

/// The limit that has cancelled a scope.
enum class scope_end_reason : std::uint8_t { none, deadline, stop };

/// The part of a scheduler that scopes use.
class scope_runner : public task_runner {
 public:
  /// Starts a task of the running process.  Throws std::logic_error if no process runs.
  virtual void start(task_record& r) = 0;
  /// The last reference to a task without a scope is gone (SCOPE-3): destroys the task, and reports
  /// its exception if no process has waited for it.
  virtual void on_last_reference(task_record& r) noexcept = 0;
  virtual void scope_unwinds(scope_core& s, suspension& h) noexcept = 0;
  /// Called when the canceller of a scope (scope_limit.hpp) begins: counts it among the processes.
  /// While it waited, it was not counted, and so kept no run alive.
  virtual void count_canceller() noexcept = 0;
  /// Whether the running code is that of the process that has opened the scope, with no ordinary
  /// code in between.
  [[nodiscard]] virtual bool runs_owner(scope_core const& s) noexcept = 0;
  /// Whether the process whose running frame is `at` is cancelled by a scope further out, or with
  /// all others.
  [[nodiscard]] virtual bool has_cancelled(continuation at) const noexcept = 0;

 protected:
  ~scope_runner() = default;
};

/// A task that was started one by one.
class task_record : public any_task, public waitable_task {
 public:
  task_record(task_record const&) = delete;
  task_record& operator=(task_record const&) = delete;

  virtual void destroy() noexcept = 0;
  /// The task's exception; null if there is none.
  [[nodiscard]] virtual std::exception_ptr error() const noexcept = 0;
  [[nodiscard]] process_id id() const noexcept { return parent.child(number); }
  [[nodiscard]] row_info const& row() const noexcept { return *row_; }
  /// The scope; null if there is none.
  [[nodiscard]] inline scope_core* scope() const noexcept;
  /// Drops the handle's reference to the task.  The scheduler of a task in a scope may have been
  /// destroyed by now; that of a task without a scope is kept as long as the task.
  void drop_handle() noexcept;

  [[nodiscard]] thunk promote() noexcept override { return home->begin_task(*this, id()); }
  continuation ended() noexcept override { return home->task_ended(*this); }
  continuation dropped() noexcept override { return home->task_dropped(*this); }
  void settle() noexcept override { home->task_not_begun(*this); }
  void on_abandoned() noexcept override;
  void unwind_later(suspension& h) noexcept override { home->task_unwinds(*this, h); }
  [[nodiscard]] cancel_state query_cancellation(continuation& outwards) const noexcept override;
  [[nodiscard]] continuation outside() const noexcept override {
    return host ? continuation(*host) : continuation(called_from);
  }

  scope_runner* home = nullptr;  // set when the task is started, as are `parent` and `number`
  process_id parent;
  std::uint32_t number = 0;              // its number among the children of `parent`
  task_record* next_in_scope = nullptr;  // the next task on the scope's list (SCOPE-1)
  std::coroutine_handle<> called_from;   // the frame that waits, while the task is a call
  task_wait* called_by = nullptr;  // the wait that calls the task; null: none, or the scope's end
  bool const has_handle;
  // Whether the task runs as a call of its scope's owner.  relaxed: only the owner reads it, and
  // has set it.
  std::atomic<bool> is_called_by_owner = false;
  // Whether a process has waited for the task, and so has received its error.  relaxed: a flag,
  // which publishes no data.
  std::atomic<bool> was_awaited = false;

 protected:
  task_record(bool with_handle, bool in_a_scope) noexcept
      : waitable_task(in_a_scope), has_handle(with_handle) {}
  ~task_record() { destroy_frame(); }
  void prepare(first_frame f) noexcept {
    row_ = f.row;
    any_task::prepare(f.handle);
  }

 private:
  row_info const* row_ = nullptr;
};

/// The state of a process that awaits a handle: it waits for the first task that has not ended.
struct task_wait {
  explicit task_wait(waitable_task* t) noexcept : first(t) {}
  task_wait(task_wait&&) noexcept = default;
  task_wait& operator=(task_wait&&) = delete;

  waitable_task* first;
  task_waiter here{false};
  // Used while one of the tasks runs as a call:
  std::coroutine_handle<> leaf{};
  result_slot_base* waiting = nullptr;
  operation_info const* operation = nullptr;
};

/// The part of a scope that does not depend on its row.  Lies in the frame of in_a_scope()
/// (scope.hpp), and is the frame_end of the scope's body.
class scope_core : public task_group, public frame_end {
 public:
  scope_core() noexcept : task_group(true) { note_pinning(); }
  ~scope_core();

  // ---- as the end of the body's frames

  continuation ended() noexcept override {
    body_has_ended();
    return owner_frame;
  }
  /// Closes the body; but where schedules are explored in steps as small as operations, the
  /// operation `leave` closes it.
  void body_has_ended() noexcept {
    // [2] release: pairs with is_empty(): a canceller that finds the body closed sees the tasks
    // that the body has started.
    if (!event_deferrer::of_thread) body_is_open.store(false, std::memory_order_release);
  }
  continuation dropped() noexcept override { return owner_frame; }
  [[nodiscard]] std::string text() const override;
  [[nodiscard]] continuation outside() const noexcept override { return owner_frame; }
  [[nodiscard]] bool lost() const noexcept override { return false; }
  [[nodiscard]] bool may_resume_inside() const noexcept override;
  [[nodiscard]] bool pins_outer_frames() const noexcept override { return true; }
  [[nodiscard]] wait_group* as_group() const noexcept override {
    return const_cast<scope_core*>(this);
  }
  void on_abandoned() noexcept override { home->cancel(*this); }
  void unwind_later(suspension& h) noexcept override { home->scope_unwinds(*this, h); }
  [[nodiscard]] cancel_state query_cancellation(continuation& outwards) const noexcept override;

  // ---- its tasks

  void add(task_record& r) noexcept {
    if (!r.has_handle) return count.add_one();
    r.next_in_scope = records.load(std::memory_order_relaxed);  // relaxed: [1] checks it
    // [1] release: pairs with the loads in not_ended().
    while (!records.compare_exchange_weak(r.next_in_scope, &r, std::memory_order_release,
                                          std::memory_order_relaxed)) {
    }
  }
  /// Whether no process is in the scope any more, nor will be (SCOPE-2): then a canceller need not
  /// look for any.
  [[nodiscard]] bool is_empty() const noexcept {
    // acquire: pairs with [2]: the count and the list contain the tasks that the body has started.
    return !body_is_open.load(std::memory_order_acquire) && count.is_zero() && !not_ended();
  }
  /// A task that has not ended; null if all have (SCOPE-2).
  [[nodiscard]] task_record* not_ended() const noexcept;
  void add_error(process_id id, std::exception_ptr error) noexcept;
  /// Notes that a task was not done, or not completed, because it was cancelled.
  void note_left_undone() noexcept {
    left_undone.store(true, std::memory_order_relaxed);  // relaxed: read when all tasks have ended
  }
  /// Called when all tasks have ended.  Adds the errors for which no process has waited, and drops
  /// the scope's references to the tasks.
  void release_records() noexcept;

  /// Called when all tasks have ended.  Releases the tasks, and returns the error with which the
  /// scope ends, or null.  `of_body`: the exception of the body, or null; `yields`: whether the
  /// body has a result, which is not lost because a task was cancelled; `why`: the limit that has
  /// cancelled the scope.
  [[nodiscard]] std::exception_ptr finish(std::exception_ptr of_body, bool yields,
                                          scope_end_reason why) {
    release_records();
    bool const all_done = !left_undone.load(std::memory_order_relaxed);  // relaxed: all have ended
    if (errors.empty() && !of_body && !has_lost_an_error && all_done) [[likely]]
      return nullptr;
    return error_of_all(std::move(of_body), yields, why);
  }
  /// Adds the error of a task that has ended, if it has one.
  void add_error_of(task_record const& r) noexcept;
  [[nodiscard, gnu::cold]] std::exception_ptr error_of_all(std::exception_ptr of_body, bool yields,
                                                           scope_end_reason why);
  /// The exception of a body that has ignored its cancellation, and was unwound.
  [[nodiscard]] static weft::cancelled why_unwound() noexcept;
  [[noreturn, gnu::cold]] static void end_of_the_program() noexcept;

  process_id owner_id;            // set when the scope is opened
  task_waiter here;               // holds the owner while it waits at the scope's end
  prompt* around_body = nullptr;  // the innermost prompt where the scope was opened
  scope_runner* home = nullptr;
  task_count<> count;                           // SCOPE-1: the tasks without a handle
  std::atomic<task_record*> records = nullptr;  // SCOPE-1: the tasks with a handle
  std::atomic<bool> body_is_open = true;        // other threads see a change eventually
  bool was_unwound = false;                     // the body has ignored its cancellation
  bool has_lost_an_error = false;               // there was no memory for an error; under `mutex`
  std::atomic<bool> left_undone = false;        // a task was cancelled before it was done
  std::atomic<bool> expects_cancelled = false;  // cancel() was called: `cancelled` is no error
  std::mutex mutex;
  task_errors errors;  // under `mutex`: the errors to throw at the end of the scope
  // Set by the operation `leave`, at the end of the scope:
  result_slot_base* waiting = nullptr;
  operation_info const* operation = nullptr;
};

scope_core* task_record::scope() const noexcept { return static_cast<scope_core*>(group); }
}  // namespace weft::detail
