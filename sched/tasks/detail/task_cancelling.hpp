// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <coroutine>
#include <cstdint>
#include <utility>

#include "weft/effects/handle.hpp"
#include "weft/sched/base/backend.hpp"
#include "weft/sched/base/detail/location_listener.hpp"
#include "weft/sched/base/detail/scheduling_services.hpp"
#include "weft/sched/base/detail/worker_state.hpp"
#include "weft/sched/base/process.hpp"
#include "weft/sched/tasks/detail/scope_core.hpp"
#include "weft/sched/tasks/detail/task.hpp"
#include "weft/sched/tasks/detail/task_room.hpp"

/// How a group of tasks is cancelled (TASK-5): the group is marked, and the processes that wait in
/// it are taken from their rooms, and made ready (group_tree.hpp).  `S` is a scheduler
/// (backend_scheduler.hpp).
namespace weft::detail {

/// Marks the group.  False if it was marked already.
template <scheduling_services S>
bool mark_cancelled(S& s, task_group& g) noexcept {
  note_access(g.cancellation(), true);
  // Relaxed: a process that enters a room reads the mark under the room's lock (CANCEL-2).
  if (!g.mark_cancelled()) return false;
  s.cancellation.count_group(true);
  return true;
}
/// Cancels the group (TASK-5), unless it was cancelled already.  O(n) in the processes that wait in
/// it, and in the groups inside it; and in the processes that wait for room to spawn.
template <scheduling_services S>
void cancel_group(S& s, task_group& g) noexcept {
  if (!mark_cancelled(s, g)) return;
  S::observer::on_event(s, {.value = 1, .kind = trace_kind::cancel});
  if (g.is_scope() && static_cast<scope_core&>(g).is_empty()) return;
  s.waits.groups.cancel(
      g, [&s](wait_group& inside) { return mark_cancelled(s, static_cast<task_group&>(inside)); },
      [&s](waiter& w) { return s.waits.take(w); }, [&s](process& p) { s.wake_cancelled(p); });
  s.waits.turn_away_if(
      [](process const& p) noexcept { return p.is_suspended() && is_cancelled_at(p.leaf()); },
      [&s](thunk t) { s.wake_cancelled(*t.release()); });
}
/// Called when the owner of the group, which is suspended, is about to wait for the group: cancels
/// the group if the owner is cancelled.  If the owner is inside a handler, also gives the group its
/// place in the tree of groups (GROUP-2 of group_tree.hpp), for a cancellation that comes later: no
/// task of the group could.
template <scheduling_services S>
void begin_wait_for(S& s, task_group& g) noexcept {
  if (s.running().is_inside_handler(s)) s.waits.groups.place(g, g.owner_frame);
  cancel_with_owner(s, g);
}
/// Cancels the group if its owner, which is about to wait for it, is cancelled.  If the group is
/// cancelled already, asks no frame further out: with deeply nested scopes each owner would walk
/// all the way.
template <scheduling_services S>
void cancel_with_owner(S& s, task_group& g) noexcept {
  if (!s.cancellation.needs_attention()) return;
  note_access(g.cancellation(), false);
  if (!g.is_cancelled() && s.cancellation.is_of_some_group() && is_cancelled_at(g.owner_frame))
    cancel_group(s, g);
}
/// Called when a cancelled group has ended: takes back its reason for attention.
template <scheduling_services S>
void note_group_end(S& s, task_group& g) noexcept {
  s.cancellation.count_group(false);
  // Its owner has heeded the cancellation, unless all processes are cancelled: so the count of
  // cancellations that it has ignored starts anew.
  if (s.running_here() == g.owner && !s.cancellation.is_of_all()) g.owner->reset_cancellations();
}

}  // namespace weft::detail
