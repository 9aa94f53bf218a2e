// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <coroutine>
#include <cstdint>
#include <exception>
#include <string>
#include <utility>

#include "effects/handle.hpp"
#include "sched/base/detail/location_listener.hpp"
#include "sched/base/detail/program.hpp"
#include "sched/base/lazy_task.hpp"
#include "sched/base/process.hpp"
#include "sched/tasks/detail/join_table.hpp"

/// Tasks: what a process has done by itself or by others, as it comes, and waits for.
///
///   TASK-1  A light task is offered by the process that waits for it, its owner.  If nobody has taken
///       it when the owner has nothing else to do, it is done there, as a call: by no process of
///       its own, without a count.  Others, and all of an owner that cannot call them, as it stands
///       inside a handler, are begun at once.
///   TASK-2  Who begins one, or takes it, makes a process of it, whose first frame ends at the task.
///   TASK-3  The word of a join is less by one for each task that was taken and has ended.  Its owner,
///       when it has taken back what it could, adds how many are left.  Of them all, who makes it
///       zero has the owner go on.
///   TASK-4  Until then the owner waits, whatever happens to it: nobody unwinds what tasks refer to
///       before they have ended (SUSPENSION-3 of suspension.hpp).
///   TASK-5  A group is cancelled once.  After that none of its tasks is begun, and processes that do
///       one, or something for one, are told so when they perform, or where they wait: who asks
///       goes up the chain of frames, from a task on to where its group stands.
///   TASK-6  A process that does one light task after the other looks after each `tasks_to_look` of its
///       tasks at the clock, and whether other processes are ready.  If so it lets them go first;
///       its offers stay.  So a deadline, a stop token and other processes wait for twice as many
///       tasks of a process at most.
namespace weft::detail {

class any_task;
class task;
class join;
class task_record;
class scope_core;

/// Tasks that are waited for together.
class task_group {
 public:
  task_group(task_group const&) = delete;
  task_group& operator=(task_group const&) = delete;

  [[nodiscard]] bool is_cancelled() const noexcept {
    return cancelled.load(std::memory_order_relaxed);  // relaxed: sooner or later
  }
  /// When all have ended: each has given something.  Else it is to be asked.
  [[nodiscard]] bool all_have_given() const noexcept {
    // Relaxed, both: who knows that they have ended knows what they did.  Who failed has it
    // cancelled.
    return !is_cancelled() && !some_were_left.load(std::memory_order_relaxed);
  }

  process* owner;  // set by who begins it, as the next two
  process_id owner_id;
  std::coroutine_handle<> leaf;             // where it stands: that frame waits for it
  std::atomic<bool> cancelled = false;      // TASK-5
  std::atomic<bool> some_were_left = true;  // not begun, not done, or not to the end
  suspension* leaving = nullptr;            // TASK-4: who is unwound when it is over
  task_group* next_leaving = nullptr;
  task_waiter here;  // the owner, while it waits

  // Where one thread runs all processes (task_cancelling.hpp); set when it is placed.
  bool const is_scope;
  bool is_placed = false;
  bool is_on_the_ground = false;  // TREE-2
  task_group* around;
  task_group* first_inside;
  task_group* next_beside;
  task_group* previous_beside;
  task_group* next_cancelled;

 protected:
  explicit task_group(bool scope) noexcept : is_scope(scope) {}
  ~task_group() {
    if (is_placed) [[unlikely]]
      leave_tree();
  }

 private:
  inline void leave_tree() noexcept;
};

void task_group::leave_tree() noexcept {
  for (task_group* g = first_inside; g; g = g->next_beside) g->around = nullptr;
  if (!around) return;
  (previous_beside ? previous_beside->next_beside : around->first_inside) = next_beside;
  if (next_beside) next_beside->previous_beside = previous_beside;
}

/// What a group of tasks held up is unwound on: the group is over.  Groups are done one after the
/// other, as the end of one may be that of the next further out.
inline void continue_unwinding(task_group& g) noexcept {
  static thread_local task_group* first = nullptr;
  static thread_local bool is_at_it = false;
  g.next_leaving = std::exchange(first, &g);
  if (std::exchange(is_at_it, true)) return;
  while (first) {
    suspension* const rest = std::exchange(first, first->next_leaving)->leaving;
    note_access(rest, true);
    rest->unwind_on();
  }
  is_at_it = false;
}

/// A scheduler, for its tasks.
class task_runner {
 public:
  [[nodiscard]] virtual thunk begin_task(any_task& t, process_id id) noexcept = 0;
  virtual void cancel(task_group& g) noexcept = 0;
  virtual continuation task_ended(task& t) noexcept = 0;
  virtual continuation task_dropped(task& t) noexcept = 0;
  virtual void task_unwinds(task& t, suspension& h) noexcept = 0;
  virtual continuation task_ended(task_record& r) noexcept = 0;
  virtual continuation task_dropped(task_record& r) noexcept = 0;
  virtual void task_unwinds(task_record& r, suspension& h) noexcept = 0;
  /// They were not begun, and never will be.
  virtual void task_is_over(task& t) noexcept = 0;
  virtual void task_is_over(task_record& r) noexcept = 0;
  /// Of one that was cancelled.
  virtual void on_group_end(task_group& g) noexcept = 0;

 protected:
  ~task_runner() = default;
};

class any_task : public frame_end, public lazy_task {
 public:
  enum class fate : std::uint8_t { ends, not_done, no_memory };

  [[nodiscard]] row_info const& row() const noexcept { return *row_; }
  [[nodiscard]] detail::frame& first_frame_here() const noexcept { return frame_of(frame_); }
  [[nodiscard]] std::coroutine_handle<> frame() const noexcept { return frame_; }
  [[nodiscard]] result_slot_base& to() const noexcept { return *to_; }
  [[nodiscard]] bool has_failed() const noexcept { return to_->has_failed(); }
  /// To be run, or started.
  [[nodiscard]] std::coroutine_handle<> release() noexcept { return std::exchange(frame_, {}); }
  /// It will not be begun.
  void drop_frame(fate f) noexcept {
    set_fate(f);
    if (frame_) release().destroy();
  }
  void set_fate(fate f) noexcept {
    fate_ = f;
    if (group) group->some_were_left.store(true, std::memory_order_relaxed);  // all_have_given()
  }
  [[nodiscard]] fate fate_of_run() const noexcept { return fate_; }
  virtual void settle() noexcept = 0;

  [[nodiscard]] std::string text() const override { return "a task"; }
  [[nodiscard]] bool lost() const noexcept override { return false; }
  /// It is done in a call: then who calls is not to be unwound.
  [[nodiscard]] bool pins_outer_frames() const noexcept override { return !host; }

  [[nodiscard]] task_group* as_group() const noexcept override { return group; }

  task_group* group = nullptr;  // null: none
  process* host = nullptr;      // TASK-2

 protected:
  any_task() = default;
  /// Before it is offered.  The answer is `to`.
  any_task(first_frame f, result_slot_base& to) noexcept : frame_(f.handle), row_(f.row), to_(&to) {
    frame_of(frame_).to = &to;
    frame_of(frame_).parent = continuation(static_cast<frame_end&>(*this));
  }
  ~any_task() = default;
  /// It has not been begun: what each that is one does at its end.
  void destroy_frame() noexcept {
    if (frame_) frame_.destroy();
  }
  /// The same of one that is there already.  The answer is its frame's.
  void prepare(first_frame f) noexcept {
    frame_ = f.handle;
    row_ = f.row;
    to_ = frame_of(frame_).to;
    frame_of(frame_).parent = continuation(static_cast<frame_end&>(*this));
  }

 private:
  fate fate_ = fate::ends;

 public:
  bool is_hosted = false;  // by a process that has not ended (task_cancelling.hpp)

 private:
  std::coroutine_handle<> frame_;  // until it is begun
  row_info const* row_ = nullptr;
  result_slot_base* to_ = nullptr;
};

/// One of a join.
class task final : public any_task {
 public:
  task() = default;
  inline task(join& j, first_frame f, result_slot_base& to) noexcept;
  task(task const&) = delete;
  task& operator=(task const&) = delete;
  inline void prepare(join& j, first_frame f) noexcept;
  ~task() { destroy_frame(); }
  [[nodiscard]] inline join& of() const noexcept;
  [[nodiscard]] inline process_id id() const noexcept;

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

/// Of several that have no row in common, or one that is not light.
inline constexpr row_info no_row{0, nullptr, false};
template <class Row, class... Rows>
constexpr row_info const& light_row_of() {
  row_info const& first = row_info_of<Row>::value;
  return first.is_light && (std::is_same_v<Row, Rows> && ...) ? first : no_row;
}

/// What a process waits for: several tasks.  In the awaiting frame.
class join final : public task_group {
 public:
  join(task* first, std::uint32_t n, row_info const& light_row_of_all) noexcept
      : task_group(false), tasks(first), count(n), light_row(&light_row_of_all) {}

  task* const tasks;
  std::uint32_t const count;
  row_info const* light_row;  // of them all; or no_row
  // Set by who begins it, as the next three: of the first one, among the owner's children.
  std::uint32_t first_number;
  task_runner* home;
  result_slot<void>* waiting;
  operation_info const* operation;
  std::uint32_t not_offered = 0;       // the owner's: there was no memory; from the second on
  std::int32_t left = 0;               // the owner's: offered, and not taken back
  std::atomic<std::int32_t> word = 0;  // TASK-3

  ~join() {
    if (is_cancelled()) [[unlikely]]
      home->on_group_end(*this);
  }
};

join& task::of() const noexcept { return static_cast<join&>(*group); }
process_id task::id() const noexcept {
  join const& j = of();
  return j.owner_id.child(j.first_number + static_cast<std::uint32_t>(this - j.tasks));
}
task::task(join& j, first_frame f, result_slot_base& to) noexcept : any_task(f, to) { group = &j; }
void task::prepare(join& j, first_frame f) noexcept {
  group = &j;
  j.light_row = f.row->is_light ? f.row : &no_row;
  any_task::prepare(f);
}
thunk task::promote() noexcept { return of().home->begin_task(*this, id()); }
continuation task::ended() noexcept { return of().home->task_ended(*this); }
continuation task::dropped() noexcept { return of().home->task_dropped(*this); }
void task::settle() noexcept { of().home->task_is_over(*this); }
void task::on_abandoned() noexcept { of().home->cancel(of()); }
void task::unwind_later(suspension& h) noexcept { of().home->task_unwinds(*this, h); }
frame_end::cancel_state task::query_cancellation(continuation& outwards) const noexcept {
  note_access(&group->cancelled, false);
  outwards = group->leaf;
  if (group->is_cancelled()) return cancel_state::cancelled;
  return host ? cancel_state::elsewhere : cancel_state::unknown;
}
continuation task::outside() const noexcept {
  return host ? continuation(*host) : continuation(group->leaf);
}

}  // namespace weft::detail
