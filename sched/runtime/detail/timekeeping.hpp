// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <exception>
#include <utility>

#include "weft/sched/base/backend.hpp"
#include "weft/sched/base/detail/worker_state.hpp"
#include "weft/sched/base/thunk.hpp"
#include "weft/sched/sync/detail/timers.hpp"

/// The clock of a scheduler, real or virtual, and the alarms that are due.
namespace weft::detail {

template <class S>
[[nodiscard]] instant current_time(S& s) noexcept {
  S::observer::on_clock(s);
  return s.has_virtual_time ? s.virtual_now_ : instant::clock::now();
}
/// Sets an alarm.  False if the alarm's process is cancelled, and must not wait.  Throws bad_alloc.
template <class S>
[[nodiscard]] bool set_alarm(S& s, alarm& a) {
  bool is_next = false;
  S::observer::on_clock(s);
  if (!s.waits.alarms.set(a, is_next, s.cancellation.refuses())) return false;
  if constexpr (requires { s.base().recheck_deadlines(); })
    if (is_next && !s.has_virtual_time) s.base().recheck_deadlines();
  return true;
}
/// Makes the processes ready whose alarms are due.  Returns whether there were any.
template <class S>
bool wake_due(S& s) noexcept {
  bool was_any = false;
  instant const t = current_time(s);
  while (process* const p = s.waits.alarms.take_due(t)) {
    was_any = true;
    S::observer::on_event(s, {.process = p->id(), .kind = trace_kind::timer});
    s.put(thunk(p), put_reason::woken);
  }
  return was_any;
}
/// Called when no process is ready.  If time is virtual, advances it to the first alarm, and wakes
/// the processes that are due then.  False if time is real, or no alarm is set.
template <class S>
[[nodiscard]] bool advance_time(S& s) noexcept {
  if (!s.has_virtual_time || s.waits.alarms.empty()) return false;
  if (instant const next = s.waits.alarms.next(); s.virtual_now_ < next) s.virtual_now_ = next;
  S::observer::on_time(s);
  (void)wake_due(s);
  return true;
}
/// The clock is read once in this many steps, since a read costs as much as two or three steps.  So
/// while processes are ready, an alarm may be found due this many steps late.
inline constexpr std::uint8_t steps_per_look = 32;
/// Takes the next process, and wakes the processes whose alarms are due meanwhile.
template <class S>
[[gnu::noinline]] thunk take_in_time(S& s) noexcept {
  try {
    if (s.has_virtual_time) {
      for (;;) {
        thunk t = s.worker().take(instant::max(), s.quiescence());
        bool const was_quiescent = !t && t.why_empty() == thunk::reason::quiescent;
        // With several threads, each thread returns first; then settle() advances the time.
        if (!was_quiescent || S::on_several_threads || !advance_time(s)) return t;
      }
    }
    for (worker_state& w = s.here();;) {
      if (w.until_clock-- == 0) {
        w.until_clock = steps_per_look;
        (void)wake_due(s);
      }
      thunk t = s.worker().take(s.waits.alarms.next(), s.quiescence_outside());
      if (t || t.why_empty() != thunk::reason::deadline) return t;
      w.until_clock = 0;  // an alarm is due
    }
  } catch (...) {
    s.here().broken = std::current_exception();
    return thunk::reason::stopped;
  }
}
/// Takes the next process if one is ready or due, and does not sleep; for a scheduler with one
/// thread.  An empty thunk says `deadline` if processes wait for something outside, or for a time.
template <class S>
[[nodiscard]] thunk take_ready(S& s) noexcept {
  try {
    worker_state& w = s.here();
    w.begin_step();
    if (!s.has_virtual_time && s.has_alarms() && w.until_clock-- == 0) {
      w.until_clock = steps_per_look;
      (void)wake_due(s);
    }
    for (;;) {
      thunk t = s.worker().take(instant::min(), s.quiescence());
      if (t) return t;
      bool const is_quiescent = t.why_empty() == thunk::reason::quiescent;
      bool const is_late = t.why_empty() == thunk::reason::deadline;
      if (!(is_quiescent && advance_time(s)) && !(is_late && !s.has_virtual_time && wake_due(s)))
        return t;
    }
  } catch (...) {
    s.here().broken = std::current_exception();
    return thunk::reason::stopped;
  }
}

}  // namespace weft::detail
