// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <cstdint>
#include <optional>
#include <utility>

#include "weft/effects/detail/internal.hpp"
#include "weft/sched/base/backend.hpp"
#include "weft/sched/base/detail/scheduling_services.hpp"
#include "weft/sched/base/process.hpp"
#include "weft/sched/base/thunk.hpp"
#include "weft/sched/sync/detail/timers.hpp"
#include "weft/sched/sync/detail/wait_place.hpp"
#include "weft/sched/sync/detail/wait_room.hpp"
#include "weft/sched/sync/detail/waiter.hpp"
#include "weft/sched/sync/external_event.hpp"
#include "weft/sched/sync/gate.hpp"
#include "weft/sched/sync/timing.hpp"

/// The clauses of syncing, completions and timing.  `S` is a scheduler (backend_scheduler.hpp).
namespace weft::detail {

/// Enters the waiter of the running process, which is suspended and about to wait in a room, in the
/// list of the group of the process, if it has one.  A wait for tasks looks for a group even if
/// none was opened for other processes: a process outside all scopes may wait for tasks that are in
/// a group (task.hpp, TASK-1).
template <scheduling_services S>
void enter_group(S& s, waiter& w, waiter::kind k, void* object) noexcept {
  if (s.waits.groups.was_used()) [[unlikely]]
    s.waits.groups.enter(w, s.running().leaf(), k, object);
}
template <scheduling_services S>
void enter_group(S& s, room_waiter& w, wait_room& r) noexcept {
  if (s.waits.groups.was_used() || &r == &s.waits.tasks) [[unlikely]] {
    w.room = &r;
    s.waits.groups.enter(w.parked, s.running().leaf(), waiter::kind::in_a_room, &w);
  }
}
/// Makes the running process, which is suspended, wait.  `enter()` puts its waiter on the lists.
/// If enter() returns `answered`, the process goes on in its next turn; if `refused`, it finds
/// `cancelled` in that turn; if `waits`, another party takes the process, at any time from then on.
/// `where` are further arguments of enter_group().
template <scheduling_services S, class Enter, class... Where>
std::coroutine_handle<> wait(S& s, waiter& w, Enter enter, Where&&... where) {
  process& p = s.running();
  s.on_wait_begin(p);
  w.hold(p);
  enter_group(s, where...);
  wait_entry how = wait_entry::waits;
  try {
    how = enter();
  } catch (...) {
    if (w.take()) {
      s.on_wait_cancelled(p);
      throw;
    }
  }
  if (how == wait_entry::waits || !w.take()) {  // if take() is null, another party has the process
    s.on_waiting(p);
    return s.next();
  }
  s.on_wait_cancelled(p);
  if (how == wait_entry::refused) p.mark_cancellable();
  s.put(s.box(true), put_reason::yielded);
  return s.next();
}
/// Makes the running process wait in the room `r`; with wait_until(), the wait ends at the latest
/// when the alarm is due.
template <scheduling_services S, class Enter>
std::coroutine_handle<> wait(S& s, room_waiter& w, wait_room& r, Enter enter) {
  return wait(s, w.parked, enter, w, r);
}
template <scheduling_services S, class Enter>
std::coroutine_handle<> wait_until(S& s, room_waiter& w, wait_room& r, alarm& until, Enter enter) {
  return wait(s, w, r, [&] { return set_alarm(s, until) ? enter() : wait_entry::refused; });
}
/// Makes the running process wait until the alarm is due, and for nothing else.
template <scheduling_services S>
std::coroutine_handle<> wait_until(S& s, waiter& w, alarm& until) {
  return wait(
      s, w, [&] { return set_alarm(s, until) ? wait_entry::waits : wait_entry::refused; }, w,
      waiter::kind::timer, &w);
}
/// Puts the waiter of an operation on the list of its gate.
template <scheduling_services S, class Wait>
[[nodiscard]] wait_entry enter_gate(S& s, Wait& o) {
  return s.waits.gates.enter(o.here, s.cancellation.refuses(), [&] {
    std::optional<std::uint64_t> const seen = o.seen;
    return seen && *seen != static_cast<gate const&>(*o.here.at).epoch_now(internal());
  });
}
template <scheduling_services S>
[[nodiscard]] wait_entry enter_event(S& s, room_waiter& w) {
  return s.waits.external.enter(w, s.cancellation.refuses(), [] { return false; });
}

// ---- syncing

template <scheduling_services S>
std::coroutine_handle<> on(S& s, syncing::wait& o) {
  return wait(s, o.here, s.waits.gates, [&] { return enter_gate(s, o); });
}
template <scheduling_services S>
std::coroutine_handle<> on(S& s, syncing::wait_until& o) {
  return wait_until(s, o.here, s.waits.gates, o.until, [&] { return enter_gate(s, o); });
}
template <scheduling_services S>
void on(S& s, syncing::wake const& o) {
  o.at->wake(internal(), s.waits.gates, o.most);
}
template <scheduling_services S>
[[nodiscard]] process_id on(S& s, syncing::own const& o) noexcept {
  if (o.location) S::observer::on_touch(s, o.location, o.writes);
  return s.running().id();
}
template <scheduling_services S>
void on(S& s, syncing::touch const& o) {
  S::observer::on_touch(s, o.location, o.writes);
}

// ---- completions

template <scheduling_services S>
std::coroutine_handle<> on(S& s, completions::wait& o) {
  o.here.spare = s.reserve_put();
  return wait(s, o.here, s.waits.external, [&] { return enter_event(s, o.here); });
}
template <scheduling_services S>
std::coroutine_handle<> on(S& s, completions::wait_until& o) {
  o.here.spare = s.reserve_put();
  return wait_until(s, o.here, s.waits.external, o.until, [&] { return enter_event(s, o.here); });
}

// ---- timing

template <scheduling_services S>
[[nodiscard]] instant on(S& s, timing::now const&) {
  return current_time(s);
}
template <scheduling_services S>
std::coroutine_handle<> on(S& s, timing::sleep_until& o) {
  return wait_until(s, o.parked, o.until);
}
template <scheduling_services S>
std::coroutine_handle<> on(S& s, timing::sleep_for& o) {
  o.until.at(time_after(current_time(s), o.time));
  return wait_until(s, o.parked, o.until);
}

}  // namespace weft::detail
