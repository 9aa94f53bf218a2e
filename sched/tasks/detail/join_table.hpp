// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <mutex>
#include <utility>

#include "weft/sched/base/detail/location_listener.hpp"
#include "weft/sched/base/detail/ready_sink.hpp"
#include "weft/sched/base/detail/relax.hpp"
#include "weft/sched/base/process.hpp"
#include "weft/sched/base/thunk.hpp"
#include "weft/sched/sync/detail/waiter.hpp"
#include "weft/sched/tasks/detail/task_words.hpp"

/// The processes of a scheduler that wait for tasks.
///
///   JOIN-1  The list of waiters, and each task's list of its waiters, are accessed under `mutex_`,
///       if there are several threads.
///   JOIN-2  A waiter for several tasks is on the list of the first task that has not ended; when
///       that task ends, the waiter moves to the list of the next one that has not.
///   JOIN-3  When a task with waiters ends, they are first taken off its list, and then it is
///       marked as ended: after that the task may be destroyed.  Both happen under the lock; the
///       waiters' processes are put when the lock is released (WAITER-3 of waiter.hpp).
namespace weft::detail {

class task_group;
class join_table;
struct waitable_task;

/// Stands for a process that waits for tasks.  Lies in the frame of that process, or in the group
/// for which the process waits.
class task_waiter {
 public:
  task_waiter() = default;
  /// `stays`: whether the process waits until the tasks have ended, even if it is cancelled (TASK-4
  /// of task.hpp).
  explicit task_waiter(bool stays) noexcept : stays_(stays) {}
  task_waiter(task_waiter&& other) noexcept : stays_(other.stays_) {}  // before it waits
  task_waiter& operator=(task_waiter&&) = delete;
  inline ~task_waiter();

  [[nodiscard]] bool stays() const noexcept { return stays_; }

  task_group* of = nullptr;      // if it waits at the end of a scope: that scope
  task_group* leaves = nullptr;  // instead of `of`: a group that holds up an unwinding
  waiter parked;

 private:
  friend class join_table;
  bool const stays_ = true;
  std::atomic<join_table*> home_ = nullptr;  // the table that it is in; set under the lock
  waitable_task* for_ = nullptr;             // the task on whose list it is (JOIN-2)
  // Set when it enters a list, or is taken.
  task_waiter* next_;
  task_waiter* previous_;
  task_waiter* next_here_;
  task_waiter* previous_here_;
  process* taken_;
  bool waits_for_one_;
};

/// A task for which processes wait, by its handle or at the end of a scope.
struct waitable_task {
  explicit waitable_task(bool in_a_scope) noexcept : state(in_a_scope) { note_created(this); }
  [[nodiscard]] bool has_ended() const noexcept {
    note_access(this, false);
    return state.has_ended();
  }

  task_state<> state;
  waitable_task* next = nullptr;      // of the same handle; set before a process waits
  task_waiter* first_here = nullptr;  // its waiters (JOIN-1)
};

class join_table {
 public:
  join_table(ready_sink& sink, bool several_threads) noexcept
      : sink_(sink), several_threads_(several_threads) {}
  join_table(join_table const&) = delete;
  join_table& operator=(join_table const&) = delete;

  /// The waiter's process waits from now on, until leave().
  void enter(task_waiter& w) noexcept;
  /// The waiter's process waits until all tasks from `first` on have ended.  The wait is `answered`
  /// if they have, and may be `refused` (CANCEL-2 of wait_registry.hpp).
  template <class IsRefused>
  [[nodiscard]] wait_entry enter(task_waiter& w, waitable_task* first,
                                 IsRefused const& is_refused) noexcept {
    auto const locked = lock();
    if (is_refused(w.parked.waiting_process())) return wait_entry::refused;
    w.waits_for_one_ = false;
    if (!enter_task(w, first)) return wait_entry::answered;
    link(w);
    return wait_entry::waits;
  }
  /// The waiter's process waits for that task alone.  False if the task has ended.
  [[nodiscard]] bool enter_for_one(task_waiter& w, waitable_task& t) noexcept;
  /// Takes the waiter off.  Returns its process, or null if another party has taken it.
  process* leave(task_waiter& w) noexcept;
  /// Called when a waiter is destroyed while it is on the list: the frames in which its process
  /// waits have been cut off.  Makes the process ready, so that it finds that out.
  void on_end(task_waiter& w) noexcept;
  /// Marks the task as ended.  Calls `put(w, its process)` for each waiter `w` that goes on.  True
  /// if no reference to the task is left.
  template <class Put>
  [[nodiscard]] bool ends(waitable_task& t, Put put) noexcept {
    note_access(&t, true);
    auto said = t.state.end();
    if (said == task_state<>::after::waited_for) [[unlikely]] {
      task_waiter* taken = nullptr;
      {
        auto const locked = lock();
        waitable_task* const next = t.next;
        while (task_waiter* const w = t.first_here) {
          leave_task(*w);
          if (w->waits_for_one_ || !enter_task(*w, next)) take_off(*w, taken);
        }
        said = t.state.end_at_last();
      }
      put_all(taken, put);
    }
    return said == task_state<>::after::unreferenced;
  }

  [[nodiscard]] bool has_waiters() const noexcept;
  template <class F>
  void for_each_waiter(F const& f) const {
    auto const locked = lock();
    for (auto* w = first_; w; w = w->next_) w->parked.look(f);
  }
  /// Takes the waiters that need not stay, and calls `put(process&)` for each process.
  template <class Put>
  void take_all(Put put) noexcept {
    task_waiter* taken = nullptr;
    {
      auto const locked = lock();
      for (task_waiter *w = first_, *next = nullptr; w; w = next) {
        next = w->next_;
        if (!w->stays_)
          if (process* const p = w->parked.take()) collect(*w, p, taken);
      }
    }
    put_all(taken, [&](task_waiter&, process* p) { put(*p); });
  }
  /// Takes that waiter, which need not stay.  Null if it has not entered, or another party has taken
  /// it.
  [[nodiscard]] process* take(task_waiter& w) noexcept;

 private:
  [[nodiscard]] std::unique_lock<std::mutex> lock() const noexcept {
    if (several_threads_) return std::unique_lock(mutex_);
    return {};
  }
  // ---- under the lock
  void link(task_waiter& w) noexcept;
  void unlink(task_waiter& w) noexcept;
  /// Takes the waiter off the list, and collects it to be put.  If another party has taken its
  /// process, only takes it off: the waiter may be destroyed afterwards.
  void take_off(task_waiter& w, task_waiter*& taken) noexcept;
  void collect(task_waiter& w, process* p, task_waiter*& taken) noexcept;
  template <class Put>
  static void put_all(task_waiter* taken, Put put) noexcept {
    while (taken) {
      task_waiter& w = *taken;
      taken = w.next_here_;  // first: the waiter may be destroyed by put()
      put(w, w.taken_);
    }
  }
  static bool enter_task(task_waiter& w, waitable_task* t) noexcept;
  static void leave_task(task_waiter& w) noexcept;

  ready_sink& sink_;
  bool const several_threads_;
  std::mutex mutable mutex_;
  task_waiter* first_ = nullptr;  // all waiters (JOIN-1)
};

task_waiter::~task_waiter() {
  parked.leave_group();
  // [2] acquire: pairs with [1] of join_table.cpp: the last access of the table happens before the destruction.
  if (auto* const home = home_.load(std::memory_order_acquire)) home->on_end(*this);
}

}  // namespace weft::detail
