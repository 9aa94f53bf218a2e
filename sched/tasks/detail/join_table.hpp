// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <mutex>
#include <utility>

#include "sched/base/detail/location_listener.hpp"
#include "sched/base/detail/ready_sink.hpp"
#include "sched/base/detail/relax.hpp"
#include "sched/base/process.hpp"
#include "sched/base/thunk.hpp"
#include "sched/sync/detail/waiter.hpp"
#include "sched/tasks/detail/task_words.hpp"

/// Where the processes of a scheduler wait for tasks.
///
///   JOIN-1  The list of those who wait, and for each task that of those who wait for it, are touched
///       under `mutex_`, if there are several threads.
///   JOIN-2  Who waits for several tasks stands on the list of the first that has not ended; when that
///       has, on that of the next.
///   JOIN-3  When a task ends for which somebody waits, those are taken off first, then it is said that
///       it has ended: after that it may be gone.  Both under the lock; they are put after it (WAITER-3
///       of waiter.hpp).
namespace weft::detail {

class task_group;
class join_table;
struct waitable_task;

/// A process that waits for tasks; in its frame, or in what it waits for.
class task_waiter {
 public:
  task_waiter() = default;
  /// It waits to the end, whatever happens (TASK-4 of task.hpp).
  explicit task_waiter(bool stays) noexcept : stays_(stays) {}
  task_waiter(task_waiter&& other) noexcept : stays_(other.stays_) {}  // before anybody waits
  task_waiter& operator=(task_waiter&&) = delete;
  inline ~task_waiter();

  [[nodiscard]] bool stays() const noexcept { return stays_; }

  task_group* of = nullptr;      // who stays: for these
  task_group* leaves = nullptr;  // instead: it is over, and who is unwound with it waits
  waiter parked;

 private:
  friend class join_table;
  bool const stays_ = true;
  std::atomic<join_table*> home_ = nullptr;  // while it is on the list; under its lock
  waitable_task* for_ = nullptr;             // JOIN-2
  // Set when it enters a list, or is taken.
  task_waiter* next_;
  task_waiter* previous_;
  task_waiter* next_here_;
  task_waiter* previous_here_;
  process* taken_;
  bool waits_for_one_;
};

/// A task that others wait for, one by one.
struct waitable_task {
  explicit waitable_task(bool in_a_scope) noexcept : state(in_a_scope) { note_created(this); }
  [[nodiscard]] bool has_ended() const noexcept {
    note_access(this, false);
    return state.has_ended();
  }

  task_state<> state;
  waitable_task* next = nullptr;      // of the same handle; written before anybody waits
  task_waiter* first_here = nullptr;  // JOIN-1
};

class join_table {
 public:
  join_table(ready_sink& sink, bool several_threads) noexcept
      : sink_(sink), several_threads_(several_threads) {}
  join_table(join_table const&) = delete;
  join_table& operator=(join_table const&) = delete;

  /// Its process waits now, until leave().
  void enter(task_waiter& w) noexcept {
    auto const locked = lock();
    link(w);
  }
  /// Its process waits until all of them have ended, from the first on.  It is answered if they
  /// have, and may be refused (CANCEL-2 of wait_registry.hpp).
  template <class IsRefused>
  [[nodiscard]] wait_entry enter(task_waiter& w, waitable_task* first,
                                 IsRefused const& is_refused) noexcept {
    auto const locked = lock();
    if (is_refused(w.parked.waiting_process())) return wait_entry::refused;
    w.waits_for_one_ = false;
    if (!stand_at(w, first)) return wait_entry::answered;
    link(w);
    return wait_entry::waits;
  }
  /// The same, of that one.
  [[nodiscard]] bool enter_for_one(task_waiter& w, waitable_task& t) noexcept {
    auto const locked = lock();
    w.waits_for_one_ = true;
    if (!stand_at(w, &t)) return false;
    link(w);
    return true;
  }
  /// It waits no more: the process, unless somebody else has taken it.
  process* leave(task_waiter& w) noexcept {
    auto const locked = lock();
    if (!w.home_.load(std::memory_order_relaxed)) return w.parked.take();  // relaxed: JOIN-1
    process* const p = w.parked.take();
    unlink(w);
    return p;
  }
  /// The waiter ends while it is on the list: the frames in which it waits have been cut off, and
  /// its process is to find that out.
  void on_end(task_waiter& w) noexcept {
    if (process* const p = leave(w)) sink_.make_ready(thunk(p));
  }
  /// The task has ended; put(w, its process) is called for who goes on.  True: nobody has the task
  /// any more.
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
          if (w->waits_for_one_ || !stand_at(*w, next)) take_off(*w, taken);
        }
        said = t.state.end_at_last();
      }
      put_all(taken, put);
    }
    return said == task_state<>::after::unreferenced;
  }

  [[nodiscard]] bool has_waiters() const noexcept {
    auto const locked = lock();
    return first_ != nullptr;
  }
  template <class F>
  void for_each_waiter(F f) const {
    auto const locked = lock();
    for (auto const* w = first_; w; w = w->next_)
      if (w->parked.is_waiting()) f(w->parked.waiting_process());
  }
  /// Those who need not stay, and of whom `is_meant(process)` says so, wait no more, but are put.
  template <class Pred, class Put>
  void take_if(Pred const& is_meant, Put put) noexcept {
    task_waiter* taken = nullptr;
    {
      auto const locked = lock();
      for (task_waiter *w = first_, *next = nullptr; w; w = next) {
        next = w->next_;
        if (!w->stays_)
          if (process* const p = w->parked.take_if(is_meant)) collect(*w, p, taken);
      }
    }
    put_all(taken, put);
  }

  /// That one, which need not stay.  Null if somebody else has taken it.
  [[nodiscard]] process* take(task_waiter& w) noexcept {
    auto const locked = lock();
    process* const p = w.parked.take();
    if (p) unlink(w);
    return p;
  }

  /// Of those who stay and are meant, `mark(their group)` is called.  Whether it was for any.
  template <class Pred, class Mark>
  [[nodiscard]] bool mark_groups_if(Pred const& is_meant, Mark mark) noexcept {
    auto const locked = lock();
    bool was_any = false;
    for (task_waiter* w = first_; w; w = w->next_) {
      if (!w->of) continue;
      // It is not taken, but does not go on while it is asked (WAITER-4 of waiter.hpp).
      (void)w->parked.take_if([&](process const& p) noexcept {
        if (is_meant(p)) was_any |= mark(*w->of);
        return false;
      });
    }
    return was_any;
  }

 private:
  [[nodiscard]] std::unique_lock<std::mutex> lock() const noexcept {
    if (several_threads_) return std::unique_lock(mutex_);
    return {};
  }
  // ---- under the lock
  void link(task_waiter& w) noexcept {
    w.home_.store(this, std::memory_order_relaxed);  // relaxed: who looks without the lock set it
    w.previous_ = nullptr;
    w.next_ = std::exchange(first_, &w);
    if (w.next_) w.next_->previous_ = &w;
    if (!several_threads_ && w.parked.is_waiting())
      w.parked.set_wait_place(w.stays_ ? process::wait_place::task_end : process::wait_place::task,
                              &w);
  }
  void unlink(task_waiter& w) noexcept {
    leave_task(w);
    (w.previous_ ? w.previous_->next_ : first_) = w.next_;
    if (w.next_) w.next_->previous_ = w.previous_;
    // [1] release: the last that is done with it here, which who ends it without the lock sees [2].
    w.home_.store(nullptr, std::memory_order_release);
  }
  /// To be put, unless somebody else has taken it: then it may be gone.
  void take_off(task_waiter& w, task_waiter*& taken) noexcept {
    process* const p = w.parked.take();
    if (p || w.leaves)
      collect(w, p, taken);
    else
      unlink(w);
  }
  void collect(task_waiter& w, process* p, task_waiter*& taken) noexcept {
    unlink(w);
    w.taken_ = p;
    w.next_here_ = std::exchange(taken, &w);
  }
  template <class Put>
  static void put_all(task_waiter* taken, Put put) noexcept {
    while (taken) {
      task_waiter& w = *taken;
      taken = w.next_here_;  // before it may go
      put(w, w.taken_);
    }
  }
  static bool stand_at(task_waiter& w, waitable_task* t) noexcept {
    for (; t; t = t->next) {
      note_access(t, false);
      if (t->state.announce_wait()) break;
    }
    if (!t) return false;
    w.for_ = t;
    w.previous_here_ = nullptr;
    w.next_here_ = std::exchange(t->first_here, &w);
    if (w.next_here_) w.next_here_->previous_here_ = &w;
    return true;
  }
  static void leave_task(task_waiter& w) noexcept {
    waitable_task* const t = std::exchange(w.for_, nullptr);
    if (!t) return;
    (w.previous_here_ ? w.previous_here_->next_here_ : t->first_here) = w.next_here_;
    if (w.next_here_) w.next_here_->previous_here_ = w.previous_here_;
  }

  ready_sink& sink_;
  bool const several_threads_;
  std::mutex mutable mutex_;
  task_waiter* first_ = nullptr;  // JOIN-1
};

task_waiter::~task_waiter() {
  // [2] acquire: with [1].
  if (auto* const home = home_.load(std::memory_order_acquire)) home->on_end(*this);
}

}  // namespace weft::detail
