// SPDX-License-Identifier: MIT
#include "weft/sched/tasks/detail/task_room.hpp"

#include <utility>

#include "weft/sched/base/detail/location_listener.hpp"
#include "weft/sched/base/process.hpp"
#include "weft/sched/base/thunk.hpp"

namespace weft::detail {

void task_room::enter(task_waiter& w) noexcept {
  auto const locked = lock();
  link(w);
}
bool task_room::enter_for_one(task_waiter& w, waitable_task& t) noexcept {
  auto const locked = lock();
  return enter(w, &t, true);
}
process* task_room::take_out(task_waiter& w) noexcept {
  auto const locked = lock();
  process* const p = w.parked.take();
  if (!is_inside(w)) return p;
  leave_task(w);
  unlink(w);
  return p;
}

void task_room::drop_all() noexcept {
  waiters taken;
  {
    auto const locked = lock();
    for (auto* w = static_cast<task_waiter*>(all().first()); w;) {
      auto* const next = static_cast<task_waiter*>(all().next(*w));
      if (!w->is.stays) {
        leave_task(*w);
        w->taken_ = w->parked.take();
        if (w->taken_) taken.push_back(*w);
        unlink(*w);
      }
      w = next;
    }
  }
  while (room_waiter* const w = taken.first()) {
    taken.remove(*w);
    (void)thunk(static_cast<task_waiter*>(w)->taken_);
  }
}

// ---- under the lock

bool task_room::enter(task_waiter& w, waitable_task* first, bool for_one) noexcept {
  w.waits_for_one_ = for_one;
  if (!enter_task(w, first)) return false;
  link(w);
  return true;
}
void task_room::take_all(waitable_task& t, waiters& taken) noexcept {
  while (room_waiter* const first = longest_waiting(t)) {
    auto& w = static_cast<task_waiter&>(*first);
    leave_task(w);
    if (!w.waits_for_one_ && enter_task(w, t.next)) continue;
    w.taken_ = w.parked.take();
    if (w.taken_ || w.unwinds_for) taken.push_back(w);
    unlink(w);  // after that the waiter may be destroyed, unless its process is taken here
  }
}
bool task_room::enter_task(task_waiter& w, waitable_task* t) noexcept {
  for (; t; t = t->next) {
    note_access(t, false);
    if (t->state.announce_wait()) break;
  }
  if (!t) return false;
  w.at = t;
  link_at(w, *t);
  return true;
}
void task_room::leave_task(task_waiter& w) noexcept {
  if (wait_place* const t = std::exchange(w.at, nullptr)) unlink_at(w, *t);
}

}  // namespace weft::detail
