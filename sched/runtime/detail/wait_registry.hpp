// SPDX-License-Identifier: MIT
#pragma once

#include "weft/sched/base/detail/location_listener.hpp"
#include "weft/sched/base/detail/ready_sink.hpp"
#include "weft/sched/base/process.hpp"
#include "weft/sched/base/thunk.hpp"
#include "weft/sched/mail/detail/mailbox_registry.hpp"
#include "weft/sched/runtime/detail/admission.hpp"
#include "weft/sched/sync/detail/external_event_table.hpp"
#include "weft/sched/sync/detail/gate_table.hpp"
#include "weft/sched/sync/detail/timers.hpp"
#include "weft/sched/sync/detail/wake_batch.hpp"
#include "weft/sched/tasks/detail/join_table.hpp"

namespace weft::detail {

/// All lists on which processes of a scheduler wait, and how a cancellation finds the cancelled
/// processes on them while other processes run: a cancelled process that waits is woken, and one
/// that is about to wait does not wait.
///
///   CANCEL-1  A canceller first marks the group, or all processes, as cancelled, where
///       cancellation_state sees it; then adds a reason for attention; then looks at each list
///       under the list's lock, even if nothing seems to wait there.
///   CANCEL-2  A process checks for cancellation under the lock of the list that it enters, before
///       it links itself in: whether there is a reason for attention, and then whether it is
///       cancelled itself.  Of the canceller and the process, the second to hold the lock sees what
///       the first has written.  So either the canceller finds the process on the list, or the
///       process is refused; neither looks twice, and no cancelled process stays on a list.  The
///       memory order of the marks (CANCEL-1) does not matter.
///   CANCEL-3  A process that waits on several lists enters them one after the other.  It is enough
///       that the canceller finds it on one list, or that one list refuses it.  A process that is
///       found is taken once (WAITER-1), and goes on when it is asleep; a process that is refused
///       goes on in its next turn.  In both cases its operation leaves the other lists (WAITER-2).
///   CANCEL-4  A mailbox may be made after the canceller has looked at the registry; the canceller
///       need not look at that mailbox.  The maker held the registry's lock after the canceller, so
///       it sees the marks of CANCEL-1; and so do all other processes that know the mailbox, since
///       they know it from the maker.
///   CANCEL-5  A process that was taken is put when no lock is held (WAITER-3), without an answer.
///       In its turn backend_scheduler::prepare() finds that it is cancelled.  Until the process is
///       put, the canceller is at work, so the scheduler is not quiescent.
///   CANCEL-6  An explorer hears of each location from which a process was taken.  It hears from
///       is_cancelled_at() that a process has checked a group, and from mark_cancelled() that a
///       group was marked.
///   CANCEL-7  On several threads a cancellation scans all waiting processes, whichever group was
///       cancelled.  A worker that can tell whether it has other work (BACKEND-8) scans less often:
///       after a scan of n processes, and while it has other work, it does not scan again for n
///       steps.  A cancellation in between leaves a note, and the first worker that has made its n
///       steps, or has no other work, scans on behalf of all notes.  So scans cost no more than the
///       steps that are made, plus time that nothing else needs.  The worker that leaves a note
///       looks for it when its process stops.  So a note is not forgotten, even if all other
///       workers sleep.
///
/// With one thread, the processes of a cancelled group of tasks are found without looking at the
/// other processes: task_cancelling.hpp.
///
/// Not scanned: processes that wait for tasks of their own, since they go on when those have ended
/// (TASK-4); ready processes; threads outside.
class wait_registry {
 public:
  wait_registry(ready_sink& sink, bool several_threads, unsigned wakes);
  wait_registry(wait_registry const&) = delete;
  wait_registry& operator=(wait_registry const&) = delete;
  ~wait_registry();

  gate_table gates;
  external_event_table external;
  timers alarms;
  join_table joins;
  admission room;
  [[nodiscard]] mailbox_registry& mail() const noexcept { return *mail_; }
  /// Called after a run in which no process waits any more: forgets its mailboxes.  False if that
  /// is not possible.
  [[nodiscard]] bool try_reset() noexcept;

  /// Cancels the wait of each process for which `is_meant(process const&)` returns true.
  /// `is_meant` is called under the lock of the list on which the process waits, and takes no lock
  /// itself.  Meanwhile another party may try to take the process from another list, but the
  /// process does not go on before `is_meant` has returned (WAITER-4).  cancel_if() is called on a
  /// thread of the scheduler, or when none of these threads runs.
  ///
  /// O(n) in all waiting processes.  Allocates if more than a few are cancelled.
  template <class IsMeant>
  void cancel_if(IsMeant const& is_meant) noexcept {
    in_batches([&](wake_batch& to) { return gates.take_if(is_meant, to); });
    in_batches([&](wake_batch& to) { return external.take_if(is_meant, to); });
    in_batches([&](wake_batch& to) { return alarms.take_if(is_meant, to); });
    in_batches([&](wake_batch& to) { return mail_->take_if(is_meant, to); });
    joins.take_if(is_meant, [this](task_waiter&, process* p) { sink_.make_cancelled(*p); });
    turn_away_if(is_meant, [this](thunk t) { sink_.make_cancelled(*t.release()); });
  }
  /// Cancels all waits, except those for external events.
  void cancel_all() noexcept;
  /// Drops every process that waits.  Called when the scheduler ends.
  void drop_all() noexcept;
  /// Takes `p` off the list on which it waits, with one thread (TREE-4).  Null if another party has
  /// taken it.
  [[nodiscard]] process* take(process const& p) noexcept {
    void* const at = p.wait_object();
    switch (p.current_wait_place()) {
      case process::wait_place::gate:
        return gates.take(*static_cast<gate_waiter*>(at));
      case process::wait_place::external_event:
        return external.take(*static_cast<external_waiter*>(at));
      case process::wait_place::timer:
        return static_cast<waiter*>(at)->take();
      case process::wait_place::receive:
        return mailbox::take(*static_cast<receive_waiter*>(at));
      case process::wait_place::send:
        return mailbox::take(*static_cast<send_waiter*>(at));
      case process::wait_place::task:
        return joins.take(*static_cast<task_waiter*>(at));
      case process::wait_place::task_end:
      case process::wait_place::none:
      case process::wait_place::cancellable:
        break;
    }
    return nullptr;
  }
  /// Whether a process waits for something other than an external event.
  [[nodiscard]] bool has_waiters_inside() const;
  /// Whether a process waits.  Called while no process runs.
  [[nodiscard]] bool has_waiters() const {
    return has_waiters_inside() || (external.was_used() && external.has_waiters());
  }

 private:
  /// Cancels the waits of the processes that `take_some(wake_batch&)` takes; calls it until it
  /// returns true, when it has taken all.
  template <class TakeSome>
  void in_batches(TakeSome take_some) noexcept {
    for (bool were_all = false; !were_all;) {
      wake_batch taken;
      were_all = take_some(taken);
      taken.for_each([this](process& p) { sink_.make_cancelled(p); });
    }
  }
  /// Takes the processes that wait for room and are meant, and calls `f(thunk)` for each.  The new
  /// processes that they have made are unwound.
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

  mailbox_registry* mail_;  // may outlive the scheduler, as mailboxes may
  ready_sink& sink_;
};

}  // namespace weft::detail
