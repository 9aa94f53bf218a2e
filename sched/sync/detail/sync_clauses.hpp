// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <utility>

#include "weft/sched/base/backend.hpp"
#include "weft/sched/base/process.hpp"
#include "weft/sched/base/thunk.hpp"
#include "weft/sched/sync/detail/timers.hpp"
#include "weft/sched/sync/detail/waiter.hpp"
#include "weft/sched/sync/external_event.hpp"
#include "weft/sched/sync/gate.hpp"
#include "weft/sched/sync/timing.hpp"

/// The clauses of syncing, completions and timing.  `S` is a scheduler (backend_scheduler.hpp).
namespace weft::detail {

/// The running process, which is suspended, is about to wait in a room: enters the list of its group,
/// if it has one.  A process outside all scopes may wait for tasks in a join (task.hpp, TASK-1).
template <class S>
void enter_group(S& s, waiter& w, waiter::room where, void* object) noexcept {
  if (s.waits.groups.was_used() || where == waiter::room::task) [[unlikely]]
    s.waits.groups.enter(w, s.running().leaf(), where, object);
}
/// Makes the running process, which is suspended, wait.  `enter()` puts its waiter on the lists.
/// If enter() returns `answered`, the process goes on in its next turn; if `refused`, it finds
/// `cancelled` in that turn; if `waits`, another party takes the process, at any time from then on.
template <class S, class Enter>
std::coroutine_handle<> wait(S& s, waiter& w, waiter::room where, void* object, Enter enter) {
  process& p = s.running();
  s.on_wait_begin(p);
  w.hold(p);
  enter_group(s, w, where, object);
  wait_entry how = wait_entry::waits;
  try {
    how = enter();
  } catch (...) {
    if (w.take()) {
      s.on_wait_cancelled(p);
      throw;
    }
  }
  if (how == wait_entry::waits || !w.take()) {  // or another party has taken the process
    s.on_waiting(p);
    return s.next();
  }
  s.on_wait_cancelled(p);
  if (how == wait_entry::refused) p.mark_cancellable();
  s.put(s.box(true), put_reason::yielded);
  return s.next();
}
/// As wait(), but only until the alarm is due.
template <class S, class Enter>
std::coroutine_handle<> wait_until(S& s, waiter& w, waiter::room where, void* object, alarm& until,
                                   Enter enter) {
  return wait(s, w, where, object,
              [&] { return set_alarm(s, until) ? enter() : wait_entry::refused; });
}

// ---- syncing

template <class S>
std::coroutine_handle<> on(S& s, syncing::wait& o) {
  return wait(s, o.here.parked, waiter::room::gate, &o.here,
              [&] { return s.waits.gates.enter(o.here, o.seen, s.cancellation.refuses()); });
}
template <class S>
std::coroutine_handle<> on(S& s, syncing::wait_until& o) {
  return wait_until(s, o.here.parked, waiter::room::gate, &o.here, o.until,
                    [&] { return s.waits.gates.enter(o.here, o.seen, s.cancellation.refuses()); });
}
template <class S>
void on(S& s, syncing::wake const& o) {
  s.waits.gates.wake(*o.at, o.most);
}
template <class S>
[[nodiscard]] process_id on(S& s, syncing::own const&) noexcept {
  return s.running().id();
}
template <class S>
void on(S& s, syncing::touch const& o) {
  if constexpr (exploring_backend<typename S::backend_type>)
    s.base().touched(&s.running(), o.location, o.writes);
}

// ---- completions

template <class S>
std::coroutine_handle<> on(S& s, completions::wait& o) {
  o.here.spare = s.reserve_put();
  return wait(s, o.here.parked, waiter::room::external_event, &o.here,
              [&] { return s.waits.external.enter(o.here, s.cancellation.refuses()); });
}
template <class S>
std::coroutine_handle<> on(S& s, completions::wait_until& o) {
  o.here.spare = s.reserve_put();
  return wait_until(s, o.here.parked, waiter::room::external_event, &o.here, o.until,
                    [&] { return s.waits.external.enter(o.here, s.cancellation.refuses()); });
}

// ---- timing

template <class S>
[[nodiscard]] instant on(S& s, timing::now const&) {
  return current_time(s);
}
template <class S>
std::coroutine_handle<> on(S& s, timing::sleep_until& o) {
  return wait_until(s, o.parked, waiter::room::timer, &o.parked, o.until,
                    [] { return wait_entry::waits; });
}
template <class S>
std::coroutine_handle<> on(S& s, timing::sleep_for& o) {
  o.until.at(time_after(current_time(s), o.time));
  return wait_until(s, o.parked, waiter::room::timer, &o.parked, o.until,
                    [] { return wait_entry::waits; });
}

}  // namespace weft::detail
