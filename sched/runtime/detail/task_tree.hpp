// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <coroutine>
#include <cstdint>
#include <utility>

#include "sched/base/process.hpp"
#include "sched/mail/detail/mailbox.hpp"
#include "sched/runtime/detail/scheduling.hpp"
#include "sched/sync/detail/wake_batch.hpp"
#include "sched/sync/external_event.hpp"
#include "sched/tasks/detail/task_service.hpp"

/// Where one thread runs all processes, a cancellation costs what there is in the group: groups of
/// tasks form a forest, and each knows the processes that do its tasks.
///
///   TREE-1  A group is placed when a process begins, or calls, one of its tasks: inside the group
///   whose
///       frames wait for its own, with no handler and no shield in between.  Frames that wait for
///       each other stay together, so it keeps that place until it ends.  What is further out than
///       a handler may be resumed elsewhere, and tells the tasks nothing (is_told_to_end()).
///   TREE-2  Who does the body of a scope that was opened on the ground, outside all handlers, is its
///       owner, as long as it is open.  The rest of another body may go on in another process: if
///       such a scope is cancelled while its body is open, all who wait are asked (wake_if.hpp).
///   TREE-3  Who is to end with a group stands in its body or in a task of it, or of a group inside of
///       it, or of one for which such a process waits.  So the owner of that group and the
///       processes of those tasks are all that are asked.  Each is asked by its own frames, as
///       everywhere: what is here says where to look, not who is meant.
///   TREE-4  A process that waits on a list says where it stands (process::stands), and who takes it
///       says that it stands nowhere.  At outside gates that is on other threads: under the lock.
namespace weft::detail {

/// The group in which a group stands (TREE-1); null if there is none.
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
/// With those around it that are not yet.
inline void place_group(task_group& group) noexcept {
  for (task_group *g = &group, *inside = nullptr; g; inside = std::exchange(g, group_around(*g))) {
    bool const was_placed = std::exchange(g->is_placed, true);
    if (!was_placed) {
      // A join of which all have given something may go without its destructor; this one has one.
      // Relaxed: one thread.
      g->some_were_left.store(true, std::memory_order_relaxed);
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

/// A process does it from now on (TREE-1).
template <class S>
void task_service<S>::is_hosted_now(any_task& t) noexcept {
  if (S::on_several_threads || !t.group) return;
  task_group& g = *t.group;
  t.is_hosted = true;
  if (!g.is_placed) place_group(g);
  if (!g.is_scope) return;  // a join knows its tasks
  auto& r = static_cast<task_record&>(t);
  task_record*& first = static_cast<scope_core&>(g).first_hosted;
  r.previous_hosted = nullptr;
  r.next_hosted = std::exchange(first, &r);
  if (r.next_hosted) r.next_hosted->previous_hosted = &r;
}
template <class S>
void task_service<S>::is_hosted_no_more(any_task& t) noexcept {
  if (S::on_several_threads || !std::exchange(t.is_hosted, false) || !t.group->is_scope) return;
  auto& r = static_cast<task_record&>(t);
  (r.previous_hosted ? r.previous_hosted->next_hosted
                     : static_cast<scope_core&>(*t.group).first_hosted) = r.next_hosted;
  if (r.next_hosted) r.next_hosted->previous_hosted = r.previous_hosted;
}

/// Of the process, which waits there.  Null if somebody else has taken it.
template <class S>
process* task_service<S>::take(process const& p) noexcept {
  void* const at = p.what_it_stands_at();
  switch (p.where_it_stands()) {
    case process::stands::gate_waiter:
      return self().take_from(*static_cast<gate_waiter*>(at));
    case process::stands::outside:
      return self().take_from(*static_cast<external_waiter*>(at));
    case process::stands::in_time:
      return static_cast<waiter*>(at)->take();
    case process::stands::receiving:
      return mailbox::take(*static_cast<receive_waiter*>(at));
    case process::stands::sending:
      return mailbox::take(*static_cast<send_waiter*>(at));
    case process::stands::for_task:
      return self().tasks_.take(*static_cast<task_waiter*>(at));
    case process::stands::to_the_end:
    case process::stands::nowhere:
    case process::stands::told:
      break;
  }
  return nullptr;
}
/// Of a group that has just been cancelled: those inside, and who does the body (TREE-3).  False if
/// others are to be asked as well.
template <class S>
bool task_service<S>::cancel_inside(task_group& g) noexcept {
  wake_batch taken;
  task_group* first = &g;
  g.next_cancelled = nullptr;
  // Those who wait for room are few, or none: they stand in line.
  bool were_all = !self().admission_.somebody_waits();
  auto const cancel_too = [&](task_group& other) {
    if (is_cancelled_now(other)) other.next_cancelled = std::exchange(first, &other);
  };
  auto const look_at = [&](process const& p) {
    auto const held = self().hold_outside();  // TREE-4
    auto const where = p.where_it_stands();
    if (where == process::stands::nowhere || !is_cancelled_at(p.leaf())) return;
    if (where == process::stands::to_the_end) {
      if (task_group* const of = static_cast<task_waiter*>(p.what_it_stands_at())->of)
        cancel_too(*of);
    } else if (!taken.reserve_one()) {
      were_all = false;
    } else if (process* const found = take(p)) {
      taken.add(*found);
    }
  };
  if (!g.is_scope || g.is_on_the_ground)
    look_at(*g.owner);
  else if (static_cast<scope_core&>(g).body_is_open.load(std::memory_order_relaxed))  // one thread
    were_all = false;
  while (first) {
    task_group& next = *std::exchange(first, first->next_cancelled);
    if (!next.is_placed) continue;
    if (next.is_scope) {
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
  taken.for_each([this](process& p) { self().make_cancelled(p); });
  return were_all;
}

}  // namespace weft::detail
