// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <coroutine>
#include <cstdint>
#include <utility>

#include "weft/effects/handle.hpp"
#include "weft/sched/base/backend.hpp"
#include "weft/sched/base/detail/location_listener.hpp"
#include "weft/sched/base/detail/worker_state.hpp"
#include "weft/sched/base/process.hpp"
#include "weft/sched/sync/detail/wake_batch.hpp"
#include "weft/sched/tasks/detail/join_table.hpp"
#include "weft/sched/tasks/detail/scope_core.hpp"
#include "weft/sched/tasks/detail/task.hpp"

/// How a group of tasks is cancelled (TASK-5): the group is marked, and the processes that wait in
/// it are woken.  `S` is a scheduler (backend_scheduler.hpp).
///
/// With several threads all waiting processes are checked (CANCEL-7).  With one thread the cost of
/// a cancellation depends on the size of the group only: groups form a forest, and each knows the
/// processes that do its tasks.
///
///   TREE-1  A group is placed in the forest when a process begins, or calls, one of its tasks.
///       Its place is inside the group to which the frames that wait for it belong, unless a
///       handler or a shield stands in between.  Frames that wait for each other stay together, so
///       the group keeps that place until it ends.  Frames further out than a handler may be
///       resumed elsewhere, so the tasks do not ask them (is_cancelled_at()).
///   TREE-2  As long as the body of a scope is open, its owner is the process that runs the body,
///       if the scope was opened outside all handlers ("on the ground").  The body of a scope that
///       was opened inside a handler may go on in another process: if such a scope is cancelled
///       while its body is open, all waiting processes are checked.
///   TREE-3  A process that is cancelled with a group runs the group's body; or it does a task of
///       the group, of a group inside it, or of a group for which such a process waits.  So only
///       the owner of the group and the processes that do these tasks are checked.  Whether such a
///       process is cancelled is found from its own frames, as everywhere: the forest only says
///       where to look.
///   TREE-4  A process that waits on a list notes its place (process::wait_place), and the party
///       that takes the process clears the note.  For an external event that may be a thread
///       outside, which holds the lock of these events.
namespace weft::detail {

// ---- the forest of groups, with one thread

/// The group inside which `g` has its place (TREE-1); null if there is none.
[[nodiscard, gnu::noinline]] inline task_group* group_around(task_group const& g) noexcept {
  for (continuation at(g.leaf); !at.is_ordinary_code();) {
    if (at.is_frame()) {
      at = frame_of(at.frame()).parent;
      continue;
    }
    frame_end& e = at.end();
    if (e.as_suspension()) return nullptr;
    if (task_group* const found = e.as_group()) return found;
    if (e.query_cancellation(at) != frame_end::cancel_state::unknown) return nullptr;
  }
  return nullptr;
}
/// Places a group, and those around it that are not placed yet.
inline void place_group(task_group& group) noexcept {
  for (task_group *g = &group, *inside = nullptr; g; inside = std::exchange(g, group_around(*g))) {
    bool const was_placed = g->is_placed;
    g->is_placed = true;
    if (!was_placed) {
      // If all tasks have answered, the destructor of a join is skipped; but a placed join must
      // leave the forest, so this asks for the destructor (all_have_given()).
      g->mark_incomplete();
      g->around = nullptr;
      g->first_inside = nullptr;
    }
    if (inside) {
      inside->around = g;
      inside->previous_beside = nullptr;
      inside->next_beside = std::exchange(g->first_inside, inside);
      if (inside->next_beside) inside->next_beside->previous_beside = inside;
    }
    if (was_placed) return;
  }
}
/// Notes that a process does the task from now on, and places the group (TREE-1).
template <class S>
void add_hosted(S&, any_task& t) noexcept {
  if (S::on_several_threads || !t.group) return;
  task_group& g = *t.group;
  t.is_hosted = true;
  if (!g.is_placed) place_group(g);
  if (!g.is_scope()) return;  // a join knows its tasks
  auto& r = static_cast<task_record&>(t);
  task_record*& first = static_cast<scope_core&>(g).first_hosted;
  r.previous_hosted = nullptr;
  r.next_hosted = std::exchange(first, &r);
  if (r.next_hosted) r.next_hosted->previous_hosted = &r;
}
template <class S>
void remove_hosted(S&, any_task& t) noexcept {
  if (S::on_several_threads || !std::exchange(t.is_hosted, 0u) || !t.group->is_scope()) return;
  auto& r = static_cast<task_record&>(t);
  (r.previous_hosted ? r.previous_hosted->next_hosted
                     : static_cast<scope_core&>(*t.group).first_hosted) = r.next_hosted;
  if (r.next_hosted) r.next_hosted->previous_hosted = r.previous_hosted;
}

/// Cancels the waiting processes of a group that has just been marked (TREE-3).  False if all
/// waiting processes must be checked as well.
template <class S>
bool cancel_inside(S& s, task_group& g) noexcept {
  wake_batch taken;
  task_group* first = &g;
  g.next_cancelled = nullptr;
  // Processes that wait for room note no place (TREE-4).  Most often there are none; if there are
  // some, all waiting processes are checked.
  bool were_all = !s.waits.room.has_waiters();
  auto const cancel_too = [&](task_group& other) {
    if (mark_cancelled(s, other)) other.next_cancelled = std::exchange(first, &other);
  };
  auto const look_at = [&](process const& p) {
    auto const held = s.waits.external.hold();  // so that no thread outside takes `p` (TREE-4)
    auto const where = p.current_wait_place();
    if (where == process::wait_place::none || !is_cancelled_at(p.leaf())) return;
    if (where == process::wait_place::task_end) {
      if (task_group* const of = static_cast<task_waiter*>(p.wait_object())->of) cancel_too(*of);
    } else if (!taken.reserve_one()) {
      were_all = false;
    } else if (process* const found = s.waits.take(p)) {
      taken.add(*found);
    }
  };
  if (!g.is_scope() || g.is_on_the_ground) look_at(*g.owner);
  // relaxed: one thread.
  else if (static_cast<scope_core&>(g).body_is_open.load(std::memory_order_relaxed))
    were_all = false;
  while (first) {
    task_group& next = *std::exchange(first, first->next_cancelled);
    if (!next.is_placed) continue;
    if (next.is_scope()) {
      for (auto* r = static_cast<scope_core&>(next).first_hosted; r; r = r->next_hosted)
        look_at(r->host ? *r->host : *r->called_in);
    } else {
      auto const& j = static_cast<join&>(next);
      for (task const* t = j.tasks; t != j.tasks + j.count; ++t)
        if (t->is_hosted) look_at(*t->host);
    }
    for (task_group* inside = next.first_inside; inside; inside = inside->next_beside)
      cancel_too(*inside);
  }
  taken.for_each([&s](process& p) { s.make_cancelled(p); });
  return were_all;
}

// ---- cancelling a group

/// Marks the group.  False if it was marked already.
template <class S>
bool mark_cancelled(S& s, task_group& g) noexcept {
  note_access(g.cancellation(), true);
  // Relaxed: a process that enters a list reads it under the list's lock (CANCEL-2).
  if (!g.mark_cancelled()) return false;
  s.cancellation.count_group(true);
  return true;
}
/// Cancels the group (TASK-5), unless it was cancelled already.
template <class S>
void cancel_group(S& s, task_group& g) noexcept {
  if (!mark_cancelled(s, g)) return;
  add_to_trace(s, {.value = 1, .kind = trace_kind::cancel});
  if (g.is_scope() && static_cast<scope_core&>(g).is_empty()) return;
  if constexpr (S::on_several_threads) {
    if (leave_note_to_scan(s)) return;
  } else {
    if (cancel_inside(s, g)) return;
  }
  scan_waiters(s);
}
/// Checks all waiting processes, on behalf of all groups that have been cancelled.
template <class S>
void scan_waiters(S& s) noexcept {
  std::uint32_t asked = 0;
  auto const is_meant = [&asked](process const& p) noexcept {
    ++asked;
    return p.is_waiting() && is_cancelled_at(p.leaf());
  };
  // A group whose owner waits for it and is cancelled is marked as well: its tasks would not find
  // that by themselves, if a handler stands around the owner's wait.
  auto const mark = [&s](task_group& other) { return mark_cancelled(s, other); };
  do s.waits.cancel_if(is_meant);
  while (s.waits.joins.mark_groups_if(is_meant, mark));
  if constexpr (S::on_several_threads)
    if (worker_state* const w = worker_state::of_thread; w && w->home == &s)
      w->until_wake_scan = asked;
}
/// Leaves a note instead of scanning now, if this worker need not scan yet (CANCEL-7).  Returns
/// whether it has left one.
template <class S>
bool leave_note_to_scan(S& s) noexcept {
  if constexpr (!lazy_backend<typename S::backend_type>)
    return false;  // has_other_work() is unknown
  worker_state const* const w = worker_state::of_thread;
  if (!w || w->home != &s || w->until_wake_scan == 0 || s.cancellation.is_last_step()) return false;
  // acq_rel: pairs with itself: the worker that scans sees all groups that were marked before a
  // note.
  s.tasks_.scan_wanted.exchange(true, std::memory_order_acq_rel);
  return true;
}
/// Scans on behalf of the notes, if that is due (CANCEL-7).  Called before a worker takes its next
/// process, while something needs attention.
template <class S>
void scan_waiters_if_due(S& s) noexcept {
  worker_state& w = *worker_state::of_thread;
  if (w.until_wake_scan != 0) --w.until_wake_scan;
  // relaxed: the worker that has left the note comes here as well, and sees its own store.
  if (!s.tasks_.scan_wanted.load(std::memory_order_relaxed)) return;
  if constexpr (lazy_backend<typename S::backend_type>)
    if (w.until_wake_scan != 0 && s.worker().has_other_work()) return;
  if (s.tasks_.scan_wanted.exchange(false, std::memory_order_acq_rel)) scan_waiters(s);  // as above
}
/// Cancels the group if its owner, which waits for it from now on, is cancelled.  If the group is
/// cancelled already, no frame further out is asked: with deeply nested scopes each owner would
/// walk all the way.
template <class S>
void cancel_with_owner(S& s, task_group& g) noexcept {
  if (!s.cancellation.needs_attention()) return;
  note_access(g.cancellation(), false);
  if (!g.is_cancelled() && s.cancellation.is_of_some_group() && is_cancelled_at(g.leaf))
    cancel_group(s, g);
}
/// Called when a cancelled group has ended: takes back its reason for attention.
template <class S>
void note_group_end(S& s, task_group& g) noexcept {
  s.cancellation.count_group(false);
  if constexpr (S::on_several_threads)
    if (!worker_state::of_thread || worker_state::of_thread->home != &s) return;
  // Its owner has heeded the cancellation, unless all processes are cancelled: so the count of
  // cancellations that it has ignored starts anew.
  if (s.runs_process() && &s.running() == g.owner && !s.cancellation.is_of_all())
    g.owner->reset_cancellations();
}

}  // namespace weft::detail
