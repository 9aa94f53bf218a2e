// SPDX-License-Identifier: MIT
#include "weft/sched/tasks/detail/join_table.hpp"

#include <atomic>
#include <mutex>
#include <utility>

#include "weft/sched/base/detail/location_listener.hpp"
#include "weft/sched/base/process.hpp"
#include "weft/sched/base/thunk.hpp"

namespace weft::detail {

void join_table::enter(task_waiter& w) noexcept {
  auto const locked = lock();
  link(w);
}
bool join_table::enter_for_one(task_waiter& w, waitable_task& t) noexcept {
  auto const locked = lock();
  w.waits_for_one_ = true;
  if (!enter_task(w, &t)) return false;
  link(w);
  return true;
}
process* join_table::leave(task_waiter& w) noexcept {
  auto const locked = lock();
  if (!w.home_.load(std::memory_order_relaxed)) return w.parked.take();  // relaxed: JOIN-1
  process* const p = w.parked.take();
  unlink(w);
  return p;
}
void join_table::on_end(task_waiter& w) noexcept {
  if (process* const p = leave(w)) sink_.make_ready(thunk(p));
}
bool join_table::has_waiters() const noexcept {
  auto const locked = lock();
  return first_ != nullptr;
}
process* join_table::take(task_waiter& w) noexcept {
  auto const locked = lock();
  if (!w.home_.load(std::memory_order_relaxed)) return nullptr;  // relaxed: JOIN-1
  process* const p = w.parked.take();
  if (!p) return nullptr;
  if (w.for_) note_access(w.for_, true);
  unlink(w);
  return p;
}
void join_table::link(task_waiter& w) noexcept {
  w.home_.store(this, std::memory_order_relaxed);  // relaxed: only its setter reads it unlocked
  w.previous_ = nullptr;
  w.next_ = std::exchange(first_, &w);
  if (w.next_) w.next_->previous_ = &w;
}
void join_table::unlink(task_waiter& w) noexcept {
  leave_task(w);
  (w.previous_ ? w.previous_->next_ : first_) = w.next_;
  if (w.next_) w.next_->previous_ = w.previous_;
  // [1] release: pairs with [2] of join_table.hpp.  This is the last access to the waiter here: its destructor,
  // which takes no lock if it finds null, comes after it.
  w.home_.store(nullptr, std::memory_order_release);
}
void join_table::take_off(task_waiter& w, task_waiter*& taken) noexcept {
  process* const p = w.parked.take();
  if (p || w.leaves)
    collect(w, p, taken);
  else
    unlink(w);
}
void join_table::collect(task_waiter& w, process* p, task_waiter*& taken) noexcept {
  unlink(w);
  w.taken_ = p;
  w.next_here_ = std::exchange(taken, &w);
}
bool join_table::enter_task(task_waiter& w, waitable_task* t) noexcept {
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
void join_table::leave_task(task_waiter& w) noexcept {
  waitable_task* const t = std::exchange(w.for_, nullptr);
  if (!t) return;
  (w.previous_here_ ? w.previous_here_->next_here_ : t->first_here) = w.next_here_;
  if (w.next_here_) w.next_here_->previous_here_ = w.previous_here_;
}

}  // namespace weft::detail
