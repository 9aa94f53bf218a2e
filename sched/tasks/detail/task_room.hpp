// SPDX-License-Identifier: MIT
#pragma once

#include <utility>

#include "weft/sched/base/detail/intrusive_list.hpp"
#include "weft/sched/base/detail/location_listener.hpp"
#include "weft/sched/base/process.hpp"
#include "weft/sched/sync/detail/wait_place.hpp"
#include "weft/sched/sync/detail/wait_room.hpp"
#include "weft/sched/sync/detail/waiter.hpp"
#include "weft/sched/tasks/detail/task_words.hpp"

/// The processes of a scheduler that wait for tasks.
///
///   TASKROOM-1  A waiter for several tasks is on the list of the first task that has not ended;
///       when that task ends, the waiter moves to the list of the next one that has not.
///   TASKROOM-2  When a task with waiters ends, they are first taken off its list, and then it is
///       marked as ended: after that the task may be destroyed.  Both happen under the lock of the
///       room; the waiters' processes are put when the lock is released (WAITER-3 of waiter.hpp).
namespace weft::detail {

class task_group;

/// Stands for a process that waits for tasks.  Lies in the frame of that process, or in the group
/// for which the process waits.
class task_waiter : public room_waiter {
 public:
  /// `stays`: whether the process waits until the tasks have ended, even if it is cancelled (TASK-4
  /// of task.hpp).
  explicit task_waiter(bool stays = true) noexcept : room_waiter(nullptr, {.stays = stays}) {}
  /// Called only before the process waits.
  task_waiter(task_waiter&& other) noexcept : room_waiter(std::move(other)) {}
  task_waiter& operator=(task_waiter&&) = delete;
  ~task_waiter() = default;

  task_group* scope = nullptr;        // the scope at whose end the process waits; null if none
  task_group* unwinds_for = nullptr;  // set instead of `scope`: a scope that holds up an unwinding

 private:
  friend class task_room;
  process* taken_;  // the process, once the room has taken it from the waiter
  bool waits_for_one_;
};

/// A task for which processes wait, by its handle or at the end of a scope.
struct waitable_task : wait_place {
  explicit waitable_task(bool in_a_scope) noexcept : state(in_a_scope) { note_created(this); }
  [[nodiscard]] bool has_ended() const noexcept {
    note_access(this, false);
    return state.has_ended();
  }

  task_state<> state;
  waitable_task* next = nullptr;  // the handle's next task; changed only while no process waits
};

class task_room final : public wait_room {
 public:
  using wait_room::wait_room;

  /// Makes the waiter's process wait, until take_out().
  void enter(task_waiter& w) noexcept;
  /// Makes the waiter's process wait until all tasks from `first` on have ended.  Returns
  /// `answered` if they have ended already, `refused` if `is_refused(process const&)` (CANCEL-2 of
  /// wait_registry.hpp).
  template <class IsRefused>
  [[nodiscard]] wait_entry enter(task_waiter& w, waitable_task* first,
                                 IsRefused const& is_refused) noexcept {
    auto const locked = lock();
    if (is_refused(w.parked.waiting_process())) return wait_entry::refused;
    return enter(w, first, false) ? wait_entry::waits : wait_entry::answered;
  }
  /// Makes the waiter's process wait for that task alone.  False if the task has ended.
  [[nodiscard]] bool enter_for_one(task_waiter& w, waitable_task& t) noexcept;
  /// Takes the waiter out of the room.  Returns its process, or null if another party has taken it.
  process* take_out(task_waiter& w) noexcept;
  /// Marks the task as ended.  Calls `put(w, its process)` for each waiter `w` that goes on.  True
  /// if no reference to the task is left.
  template <class Put>
  [[nodiscard]] bool ends(waitable_task& t, Put put) noexcept {
    note_access(&t, true);
    auto said = t.state.end();
    if (said == task_state<>::after::waited_for) [[unlikely]] {
      waiters taken;
      {
        auto const locked = lock();
        take_all(t, taken);
        said = t.state.end_at_last();
      }
      while (room_waiter* const first = taken.first()) {
        taken.remove(*first);  // first: the waiter may be destroyed by put()
        auto& w = static_cast<task_waiter&>(*first);
        put(w, w.taken_);
      }
    }
    return said == task_state<>::after::unreferenced;
  }

  /// Called when the scheduler ends: drops every process that waits here and does not stay.  All
  /// are taken first: so a task that ends as its process is dropped finds no other process.
  void drop_all() noexcept;

 private:
  using waiters = intrusive_list<room_waiter, at_place>;

  // ---- under the lock

  [[nodiscard]] bool enter(task_waiter& w, waitable_task* first, bool for_one) noexcept;
  /// Takes all waiters off the list of a task that ends.  Adds those that wait for no other task to
  /// `taken`; but a waiter whose process another party has taken only leaves the room, unless it
  /// holds up an unwinding.
  void take_all(waitable_task& t, waiters& taken) noexcept;
  /// Enters the list of the first task from `t` on that has not ended.  False if all have.
  [[nodiscard]] static bool enter_task(task_waiter& w, waitable_task* t) noexcept;
  static void leave_task(task_waiter& w) noexcept;
};

}  // namespace weft::detail
