// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <coroutine>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "weft/effects/handle.hpp"
#include "weft/sched/base/detail/location_listener.hpp"
#include "weft/sched/base/detail/program.hpp"
#include "weft/sched/base/lazy_task.hpp"
#include "weft/sched/base/process.hpp"
#include "weft/sched/sync/detail/group_tree.hpp"
#include "weft/sched/tasks/detail/task_room.hpp"

/// Tasks: work of a process that it does itself or that other workers do, and for which it waits.
///
///   TASK-1  A light task is pushed as a lazy task by the process that waits for it, its owner.  If
///       no worker has taken it when the owner has nothing else to do, the owner does it as a call:
///       without a process of its own, and without a step on the word (TASK-3).  Tasks that are not
///       light begin at once as processes, and so do all tasks of an owner that cannot call them
///       because it is inside a handler.  A task that is started alone, in a scope or with a
///       handle, is pushed by the process that starts it; the process that waits for it, or ends
///       its scope, calls it if it is the newest lazy task of the worker.
///   TASK-2  The worker that begins a task at once, or takes it, makes a process of it, whose first
///       frame ends at the task.
///   TASK-3  The word of a join decreases by one for each task that was taken and has ended.  The
///       owner, when it has reclaimed all that it could, adds the number of tasks that are left.
///       If a task makes the word zero, its worker resumes the owner; if the owner does, it goes on
///       at once.
///   TASK-4  Until the tasks have ended the owner waits, even if it is cancelled or dropped: frames
///       to which tasks refer are not unwound before that (SUSPENSION-3 of suspension.hpp).
///   TASK-5  A group is cancelled once.  After that none of its tasks is begun, and a process that
///       does one of its tasks, or work for one, finds the cancellation when it performs, or where
///       it waits: the query follows the chain of frames outwards, from a task on to the frame of
///       its group.  The frames of a scope's body end at the scope, so the body finds it too.
///   TASK-6  A process that does one light task after the other checks, after each
///       `tasks_per_check` of its tasks, the clock and whether other processes are ready.  If so it
///       yields to them; its lazy tasks stay.  So a deadline, a stop token or another process waits
///       for at most twice as many tasks of one process.
///   TASK-7  If the owner reclaims the last task of a join, and no task was taken, nothing is left
///       to do when that task ends.  So its frame ends at the frame of the owner, as that of any
///       call does, and the answer of the wait is set before the call.  Nothing can cancel the
///       group any more, as no other task of it runs, and the frames of the owner need no pin.
///       Whether this task has failed is read from its answer.
namespace weft::detail {

class any_task;
class task;
class join;
class task_record;
class scope_core;

/// Tasks that are waited for together.
class task_group : public wait_group {
 public:
  [[nodiscard]] bool is_cancelled() const noexcept {
    return marks.load(std::memory_order_relaxed) &
           group_mark::cancelled;  // relaxed: seen eventually
  }
  [[nodiscard]] bool is_scope() const noexcept {
    return marks.load(std::memory_order_relaxed) & group_mark::scope;  // relaxed: never changes
  }
  /// Cancels the group (TASK-5).  False if it was cancelled before.
  [[nodiscard]] bool mark_cancelled() noexcept {
    return (mark(group_mark::cancelled) & group_mark::cancelled) == 0;
  }
  /// Notes that some tasks were not begun, or not completed.
  void mark_incomplete() noexcept { (void)mark(group_mark::incomplete); }
  /// The location that stands for the cancellation (note_access()).
  [[nodiscard]] void const* cancellation() const noexcept { return &marks; }
  /// Whether each task of a join has a result; a task that the owner has called last (TASK-7) is
  /// not considered.  Called when all tasks have ended.  If false, each task must be asked.
  [[nodiscard]] bool all_have_given() const noexcept {
    // relaxed: a caller that knows that the tasks have ended sees all that they wrote.  `cancelled`
    // covers failures: a task that fails cancels its group.
    return marks.load(std::memory_order_relaxed) == 0;
  }

  // The fields with an initial value stand in three places, without a gap in between: at the end
  // of wait_group, here, and in `join`.  A join is made for every few tasks, and one or two stores
  // write all these fields.
  std::coroutine_handle<> owner_frame;   // the frame that waits for the group
  suspension* held_unwinding = nullptr;  // the chain to unwind when the group is over (TASK-4)

 protected:
  explicit task_group(bool is_scope) noexcept
      : wait_group(is_scope ? group_mark::scope : std::uint8_t{0}) {}
  ~task_group() { leave_tree(); }
  /// Called first by each destructor: after that no canceller of an outer group marks this one.
  void leave_tree() noexcept {
    if (!is_placed) [[likely]]
      return;
    tree->leave(*this);
    is_placed = false;
  }

 private:
  std::uint8_t mark(std::uint8_t what) noexcept {
    return marks.fetch_or(what, std::memory_order_relaxed);  // relaxed: seen eventually
  }
};

/// Called when the group is over: continues the unwinding that its tasks held up.  Groups are
/// handled one after the other, not recursively, as the end of one may end the next one further
/// out.
inline void continue_unwinding(task_group& g) noexcept {
  static thread_local wait_group* first = nullptr;
  static thread_local bool is_at_it = false;
  g.next_leaving = std::exchange(first, &g);
  if (std::exchange(is_at_it, true)) return;
  while (first) {
    auto& now = static_cast<task_group&>(*std::exchange(first, first->next_leaving));
    suspension* const rest = now.held_unwinding;
    note_access(rest, true);
    rest->unwind_on();
  }
  is_at_it = false;
}

/// The part of a scheduler that tasks use.
class task_runner {
 public:
  [[nodiscard]] virtual thunk begin_task(any_task& t, process_id id) noexcept = 0;
  virtual void cancel(task_group& g) noexcept = 0;
  virtual continuation task_dropped(task& t) noexcept = 0;
  virtual void task_unwinds(task& t, suspension& h) noexcept = 0;
  virtual continuation task_ended(task_record& r) noexcept = 0;
  virtual continuation task_dropped(task_record& r) noexcept = 0;
  virtual void task_unwinds(task_record& r, suspension& h) noexcept = 0;
  /// Called for a task that was not begun, and never will be.
  virtual void task_not_begun(task& t) noexcept = 0;
  virtual void task_not_begun(task_record& r) noexcept = 0;
  /// Called when a cancelled group has ended.
  virtual void on_group_end(task_group& g) noexcept = 0;

 protected:
  ~task_runner() = default;
};

class any_task : public lazy_task {
 public:
  enum class fate : std::uint32_t { ends, not_done, no_memory };

  [[nodiscard]] detail::frame& first_frame_here() const noexcept { return frame_of(frame_); }
  [[nodiscard]] std::coroutine_handle<> frame() const noexcept { return frame_; }
  [[nodiscard]] result_slot_base& to() const noexcept { return *to_; }
  [[nodiscard]] bool has_failed() const noexcept { return to_->has_failed(); }
  /// Gives up its frame, to be resumed or started.
  [[nodiscard]] std::coroutine_handle<> release() noexcept { return std::exchange(frame_, {}); }
  /// Destroys the frame of a task that will not be begun.
  void drop_frame(fate f) noexcept {
    set_fate(f);
    if (frame_) release().destroy();
  }
  void set_fate(fate f) noexcept {
    fate_ = f;
    if (group) group->mark_incomplete();
  }
  [[nodiscard]] fate fate_of_run() const noexcept { return fate_; }
  virtual void settle() noexcept = 0;

  [[nodiscard]] std::string text() const override { return "a task"; }
  [[nodiscard]] bool lost() const noexcept override { return false; }
  /// While the task runs as a call, the caller's frames must not be unwound.
  [[nodiscard]] bool pins_outer_frames() const noexcept override { return !host; }

  [[nodiscard]] wait_group* as_group() const noexcept override { return group; }

  task_group* group = nullptr;  // the group that the task belongs to; null if none
  process* host = nullptr;      // the process that runs the task; null if none (TASK-2)

 private:
  fate fate_ = fate::ends;

 protected:
  any_task() = default;
  /// Called before the task is pushed.  Its answer is stored in `to`.
  any_task(std::coroutine_handle<> f, result_slot_base& to) noexcept : frame_(f), to_(&to) {
    frame_of(f).to = &to;
    frame_of(f).parent = continuation(static_cast<frame_end&>(*this));
  }
  ~any_task() = default;
  /// Called by each destructor: destroys the frame of a task that was not begun.
  void destroy_frame() noexcept {
    if (frame_) frame_.destroy();
  }
  /// Does the work of the constructor for an object that exists already.  The answer is stored in
  /// the slot that the frame names.
  void prepare(std::coroutine_handle<> f) noexcept {
    frame_ = f;
    to_ = frame_of(frame_).to;
    frame_of(frame_).parent = continuation(static_cast<frame_end&>(*this));
  }

 private:
  std::coroutine_handle<> frame_;  // null once the task is begun
  result_slot_base* to_ = nullptr;
};

/// A task of a join.
class task final : public any_task {
 public:
  task() = default;
  inline task(join& j, std::coroutine_handle<> f, result_slot_base& to) noexcept;
  task(task const&) = delete;
  task& operator=(task const&) = delete;
  inline void prepare(join& j, std::coroutine_handle<> f) noexcept;
  ~task() { destroy_frame(); }
  [[nodiscard]] inline join& its_join() const noexcept;
  [[nodiscard]] inline process_id id() const noexcept;
  [[nodiscard]] inline row_info const& row() const noexcept;

  [[nodiscard]] inline thunk promote() noexcept override;
  inline continuation ended() noexcept override;
  inline continuation dropped() noexcept override;
  inline void settle() noexcept override;
  inline void on_abandoned() noexcept override;
  inline void unwind_later(suspension& h) noexcept override;
  [[nodiscard]] inline cancel_state query_cancellation(
      continuation& outwards) const noexcept override;
  [[nodiscard]] inline continuation outside() const noexcept override;
};

/// Stands for the row of tasks whose rows differ, or of which one is not light.
inline constexpr row_info no_row{0, nullptr, false};
/// The rows of the tasks of a join.
struct task_rows {
  row_info const* light;        // the row of all tasks, if there is one and it is light; or no_row
  row_info const* const* each;  // one row for all tasks; or one for each
  bool is_one;
  [[nodiscard]] row_info const& of(std::ptrdiff_t task) const noexcept {
    return *each[is_one ? 0 : task];
  }
};
template <class Row, class... Rows>
struct task_rows_of {
  static constexpr row_info const* each[] = {&row_info_of<Row>::value,
                                             &row_info_of<Rows>::value...};
  static constexpr bool is_one = (std::is_same_v<Row, Rows> && ...);
  static constexpr bool is_light = is_one && row_info_of<Row>::value.is_light;
  static constexpr task_rows value{is_light ? &row_info_of<Row>::value : &no_row, each, is_one};
};

/// Several tasks for which one process waits.  A join lies in the awaiting frame.
class join final : public task_group {
 public:
  join(task* first, std::uint32_t n, task_rows const& of_tasks) noexcept
      : task_group(false), tasks(first), rows(&of_tasks), count(n) {}

  // The fields with an initial value, which stand behind those of task_group.
 private:
  bool has_waiter_ = false;

 public:
  // Used by the owner only: how many of the last tasks were not pushed, for lack of memory; and how
  // many tasks were pushed, and not reclaimed.
  std::uint32_t not_pushed = 0;
  std::int32_t left = 0;
  std::atomic<std::int32_t> word = 0;  // counts the tasks that others do (TASK-3)

  task* const tasks;
  task_rows const* rows;
  std::uint32_t const count;
  // How many children the owner had before: the tasks have the next numbers.  This and the next
  // three are set when the join is begun.
  std::uint32_t numbers_before;
  task_runner* home;
  continuation (*on_task_end)(task&) noexcept;  // end_task() of the scheduler; saves a virtual call
  result_slot<void>* waiting;

  /// The owner's waiter for the tasks that other workers do: made when the owner waits, which is
  /// seldom.
  [[nodiscard]] task_waiter& waiter() noexcept { return waiter_; }
  void make_waiter() noexcept {
    std::construct_at(&waiter_);
    has_waiter_ = true;
  }

  ~join() {
    leave_tree();
    if (is_cancelled()) [[unlikely]]
      home->on_group_end(*this);
    if (has_waiter_) [[unlikely]]
      std::destroy_at(&waiter_);
  }

 private:
  union {
    task_waiter waiter_;
  };
};

join& task::its_join() const noexcept { return static_cast<join&>(*group); }
process_id task::id() const noexcept {
  join const& j = its_join();
  return j.owner->id().child(j.numbers_before + 1 + static_cast<std::uint32_t>(this - j.tasks));
}
row_info const& task::row() const noexcept { return its_join().rows->of(this - its_join().tasks); }
task::task(join& j, std::coroutine_handle<> f, result_slot_base& to) noexcept : any_task(f, to) {
  group = &j;
}
void task::prepare(join& j, std::coroutine_handle<> f) noexcept {
  group = &j;
  any_task::prepare(f);
}
thunk task::promote() noexcept { return its_join().home->begin_task(*this, id()); }
continuation task::ended() noexcept { return its_join().on_task_end(*this); }
continuation task::dropped() noexcept { return its_join().home->task_dropped(*this); }
void task::settle() noexcept { its_join().home->task_not_begun(*this); }
void task::on_abandoned() noexcept { its_join().home->cancel(its_join()); }
void task::unwind_later(suspension& h) noexcept { its_join().home->task_unwinds(*this, h); }
frame_end::cancel_state task::query_cancellation(continuation& outwards) const noexcept {
  note_access(group->cancellation(), false);
  outwards = group->owner_frame;
  if (group->is_cancelled()) return cancel_state::cancelled;
  return host ? cancel_state::elsewhere : cancel_state::unknown;
}
continuation task::outside() const noexcept {
  return host ? continuation(*host) : continuation(group->owner_frame);
}

}  // namespace weft::detail
