// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <memory>
#include <utility>

#include "sched/base/process.hpp"
#include "sched/base/thunk.hpp"
#include "sched/mail/detail/mail_waiters.hpp"
#include "sched/mail/detail/mailbox.hpp"
#include "sched/mail/detail/mailbox_registry.hpp"
#include "sched/runtime/detail/admission.hpp"
#include "sched/runtime/detail/scheduling_base.hpp"
#include "sched/sync/detail/wake_batch.hpp"

/// Some are to end, while the others go on: those of them that wait are woken, and those that are
/// about to wait do not.
///
///   CANCEL-1  Who ends them says so first, where is_to_end() sees it; then that there is something to
///       look up; then looks at each list under its lock, also if nobody seems to be there.
///   CANCEL-2  Who enters a list asks under its lock whether it is refused: whether there is something to
///       look up, and then whether it is to end.  Of the two that hold the lock of one list the
///       second has seen what the first did: who looks finds who has entered; or who enters finds
///       that he is to end, whatever the memory order of what CANCEL-1 says, as the lock has them in
///       order.  So neither of them looks twice, and none who is to end waits on any list.
///   CANCEL-3  One who waits on several lists enters them one after the other.  If he is found, or
///       refused, at one of them, that is enough: he is taken once (waiter.hpp, WAITER-1), and goes on
///       when he is asleep, or has been refused; his operation leaves the others (WAITER-2).
///   CANCEL-4  A mailbox that was made after the office was looked at is known only to those who have
///       heard of it from who made it, who had the office's lock after us: so they see what CANCEL-1
///       says.
///   CANCEL-5  Who was taken is put when no lock is held (WAITER-3), without an answer, and is prepared before
///       he goes on: there it is found why.  Meanwhile who looks is at work, so it is not dry.
///   CANCEL-6  Who explores schedules hears of each place from which somebody was taken.  That who enters
///       has asked, and that somebody was said to end, is is_to_end()'s to tell.
///   CANCEL-7  On several threads all who wait are asked, whatever group was cancelled.  Where a worker
///       can tell whether it has others to run (BACKEND-8 of backend.hpp), it asks less often: when it
///       has just asked n of them, and has others to run, it does not ask again before n steps.
///       Who cancels meanwhile leaves word, and whichever worker comes first to have made its
///       steps, or to have nobody else to run, asks on behalf of all who have left word.  So to ask
///       costs no more than the steps that are made, and time that nobody needs.  The worker that
///       leaves word looks for it when its process stops; until then none of them sleeps for good,
///       as it runs.
///
/// Where one thread runs all processes, a group of tasks that is cancelled finds those in it
/// without a look at the others: task_tree.hpp.
///
/// Not among them: who waits for tasks of his own, as he goes on when they have ended (task.hpp,
/// TASK-4); who is ready; threads outside.
namespace weft::detail {

/// Wakes all of those who wait and are meant.  `is_meant(process const&)`, noexcept, is asked under
/// the lock of the list on which the process stands, perhaps of one that somebody else takes
/// meanwhile from another list, and takes no lock; the process does not go on before it has said
/// (WAITER-4).  The others stay where they are.  By a thread of ours, or when none of them runs.
///
/// O(n), of all who wait.  Allocates if they are more than a few.
template <class IsMeant>
void scheduling_base::wake_if(IsMeant const& is_meant) noexcept {
  auto const put_all = [this](auto take_some) {
    for (bool were_all = false; !were_all;) {
      wake_batch taken;
      were_all = take_some(taken);
      taken.for_each([this](process& p) { make_cancelled(p); });
    }
  };
  put_all([&](wake_batch& to) { return take_at_gates_if(is_meant, to); });
  put_all([&](wake_batch& to) { return take_outside_if(is_meant, to); });
  put_all([&](wake_batch& to) { return timers_.take_if(is_meant, to); });
  put_all([&](wake_batch& to) { return registry_->take_if(is_meant, to); });
  tasks_.take_if(is_meant, [this](task_waiter&, process* p) { make_cancelled(*p); });
  turn_away_if(is_meant, [this](thunk t) { make_cancelled(*t.release()); });
}

template <class IsMeant>
bool mailbox::take_if(IsMeant const& is_meant, wake_batch& to) noexcept {
  return under_lock([&]<bool Locks>() {
    if (select_case* const r = who_receives()) {
      if (!to.reserve_one()) return false;
      if (process* const p = r->of->who.take_if(is_meant)) {
        note_use();
        // It is inside still, and leaves by itself (MAILBOX-5): until it is asleep it may look at us.
        receive_waiter_.store(nullptr, std::memory_order_relaxed);  // relaxed: MAILBOX-1
        to.add(*p);
      }
    }
    for (send_waiter* s = first_send_waiter_; s;) {
      send_waiter* const next = s->next;
      if (!to.reserve_one()) return false;
      if (process* const p = s->who.take_if(is_meant)) {
        note_access(this, true);
        unlist(*s);
        s->is_inside = false;
        --inside_;
        to.add(*p);
      }
      s = next;
    }
    return true;
  });
}
inline process* mailbox::take(receive_waiter& r) noexcept {
  process* const p = r.who.take_alone();
  if (!p) return nullptr;
  for (unsigned i = 0; i != r.count; ++i) {
    mailbox& b = *r.first[i].box;
    if (b.who_receives() != r.first + i) continue;
    b.note_use();
    b.receive_waiter_.store(nullptr,
                            std::memory_order_relaxed);  // relaxed: MAILBOX-1; MAILBOX-5, as above
  }
  return p;
}
inline process* mailbox::take(send_waiter& s) noexcept {
  process* const p = s.who.take_alone();
  if (!p) return nullptr;
  note_access(s.box, true);
  s.box->unlist(s);
  s.is_inside = false;
  --s.box->inside_;
  return p;
}

/// Those who wait for room; what they would have started is unwound.
template <class IsMeant, class F>
void scheduling_base::turn_away_if(IsMeant const& is_meant, F f) {
  auto* l = admission_.turn_away(is_meant);
  if (l) note_access(&admission_, true);
  while (l) {
    std::unique_ptr<admission::in_line> const gone(l);
    l = l->next;
    (void)thunk(gone->spawned);
    f(thunk(gone->who));
  }
}

}  // namespace weft::detail
