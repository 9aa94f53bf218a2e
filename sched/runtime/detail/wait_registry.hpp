// SPDX-License-Identifier: MIT
#pragma once

#include "weft/sched/base/detail/location_listener.hpp"
#include "weft/sched/base/detail/ready_sink.hpp"
#include "weft/sched/base/process.hpp"
#include "weft/sched/base/thunk.hpp"
#include "weft/sched/mail/detail/mailbox_registry.hpp"
#include "weft/sched/runtime/detail/incoming/admission.hpp"
#include "weft/sched/sync/detail/group_tree.hpp"
#include "weft/sched/sync/detail/timers.hpp"
#include "weft/sched/sync/detail/wait_place.hpp"
#include "weft/sched/sync/detail/wait_room.hpp"
#include "weft/sched/tasks/detail/task_room.hpp"

namespace weft::detail {

/// All lists on which processes of a scheduler wait (rooms: each has a lock of its own), and how a
/// cancellation finds the cancelled processes on them while other processes run: a cancelled
/// process that waits is woken, and one that is about to wait does not wait.
///
///   CANCEL-1  A canceller first marks the group, or all processes, as cancelled, where
///       cancellation_state sees it; then adds a reason for attention; then looks for waiting
///       processes: for a group, those on its lists (group_tree.hpp); for all, those in each room.
///   CANCEL-2  A process checks for cancellation under the lock of the room that it enters, before
///       it links itself in: whether there is a reason for attention, and then whether it is
///       cancelled itself.  Of the canceller and the process, the second to hold the lock sees what
///       the first has written.  So either the canceller finds the process in the room, or the
///       process is refused; neither looks twice, and no cancelled process stays in a room.  The
///       memory order of the marks (CANCEL-1) does not matter.
///   CANCEL-3  A process that waits in several rooms enters them one after the other.  It is enough
///       that the canceller finds it in one room, or that one room refuses it.  A process that is
///       found is taken once (WAITER-1), and goes on as soon as its worker has left it
///       (WAITER-3); a process that is refused goes on in its next turn.  In both cases its
///       operation leaves the other rooms (WAITER-2).
///   CANCEL-4  A mailbox may be made after the canceller of all has looked at the mailbox_registry;
///       the canceller need not look at that mailbox.  The process that makes it holds the lock of
///       the mailbox_registry after the canceller, so it sees the marks of CANCEL-1; and so do all
///       other processes that know the mailbox, since they know it from its maker.
///   CANCEL-5  A process that was taken is put when no lock is held (WAITER-3), without an answer.
///       In its turn backend_scheduler::prepare() finds that it is cancelled.  Until the process is
///       put, the canceller is at work, so the scheduler is not quiescent.
///   CANCEL-6  An explorer hears of each location from which a process was taken.  It hears from
///       is_cancelled_at() that a process has checked a group, and from mark_cancelled() that a
///       group was marked.  observer::on_wake() reports that the process that wakes another one
///       checks the groups of the woken one: had these been cancelled before, the woken process
///       would have found the cancellation instead.
///
/// A canceller does not take processes that wait for tasks of their own, since they go on when
/// those have ended (TASK-4); nor ready processes, nor threads outside.
class wait_registry {
 public:
  wait_registry(ready_sink& sink, bool several_threads, unsigned wakes);
  wait_registry(wait_registry const&) = delete;
  wait_registry& operator=(wait_registry const&) = delete;
  ~wait_registry();

  group_tree groups;
  wait_room gates;
  wait_room external;
  task_room tasks;
  timers alarms;
  admission room;
  [[nodiscard]] mailbox_registry& mail() const noexcept { return *mail_; }
  /// Called after a run, when no process waits any more: forgets the mailboxes of that run.  False
  /// if that is not possible.
  [[nodiscard]] bool try_reset() noexcept;

  /// Calls `f(process const&)` for each process that waits, once for each room in which it does.
  /// Meanwhile the process does not go on (WAITER-4).  `f` takes no lock.
  template <class F>
  void for_each_waiter(F const& f) {
    auto const in_a_room = [&f](process const& p, wait_place const*) { f(p); };
    gates.for_each_waiter(in_a_room);
    external.for_each_waiter(in_a_room);
    tasks.for_each_waiter(in_a_room);
    alarms.for_each_waiter(f);
    mail_->for_each_waiter(f);
    room.for_each_waiter(f);
  }
  /// Cancels all waits, except those for external events.
  void cancel_all() noexcept;
  /// Drops every process that waits.  Called when the scheduler ends.
  void drop_all() noexcept;
  /// Takes the process of a waiter from its room, for the canceller of a group.  Null if the
  /// process has not entered, or another party has taken it.
  [[nodiscard]] process* take(waiter& w) noexcept {
    switch (w.which()) {
      case waiter::kind::in_a_room: {
        auto& in = *static_cast<room_waiter*>(w.object());
        return in.room->take(in);
      }
      case waiter::kind::timer:
        return w.take();
      case waiter::kind::receive:
        return mailbox::take(*mail_, *static_cast<receive_waiter*>(w.object()));
      case waiter::kind::send:
        return mailbox::take(*mail_, *static_cast<send_waiter*>(w.object()));
    }
    return nullptr;
  }
  /// Takes each process that waits for room to start another one, and for which `is_meant(process
  /// const&)` is true, and calls `f(thunk)` for it.  The new process that it has made is unwound.
  template <class IsMeant, class F>
  void turn_away_if(IsMeant const& is_meant, F f) {
    auto* t = room.turn_away(is_meant);
    if (t) note_access(&room, true);
    while (t) {
      admission::ticket* const gone = t;
      t = t->next;
      (void)thunk(gone->spawned);
      f(thunk(gone->owner));
      delete gone;
    }
  }
  /// Whether a process waits for something other than an external event.
  [[nodiscard]] bool has_waiters_inside() const;
  /// Whether a process waits.  Called while no process runs.
  [[nodiscard]] bool has_waiters() const { return has_waiters_inside() || external.has_waiters(); }

 private:
  mailbox_registry* mail_;  // may outlive the scheduler, as mailboxes may
  ready_sink& sink_;
};

}  // namespace weft::detail
