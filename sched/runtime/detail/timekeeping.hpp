// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <exception>
#include <utility>

#include "weft/sched/base/backend.hpp"
#include "weft/sched/base/detail/location_listener.hpp"
#include "weft/sched/base/detail/worker_state.hpp"
#include "weft/sched/base/thunk.hpp"
#include "weft/sched/sync/detail/timers.hpp"

/// The clock of a scheduler, real or virtual, and the alarms that are due.
namespace weft::detail {

template <class S>
[[nodiscard]] instant current_time(S& s) noexcept {
  return s.has_virtual_time ? s.virtual_now_ : instant::clock::now();
}
/// `d` from now; instant::max() if the clock cannot represent that.
template <class S>
[[nodiscard]] instant time_after(S& s, instant::duration d) noexcept {
  instant const from = current_time(s);
  return d < instant::max() - from ? from + d : instant::max();
}
/// Sets an alarm.  False if the alarm's process is cancelled, and must not wait.  Throws bad_alloc.
template <class S>
[[nodiscard]] bool set_alarm(S& s, alarm& a) {
  bool is_next = false;
  if (!s.waits.alarms.set(a, is_next, s.cancellation.refuses())) return false;
  if constexpr (requires { s.base().recheck_deadlines(); })
    if (is_next && !s.has_virtual_time) s.base().recheck_deadlines();
  return true;
}
/// Makes the processes ready whose alarms are due.
template <class S>
void wake_due(S& s) noexcept {
  instant const t = current_time(s);
  while (process* const p = s.waits.alarms.take_due(t)) {
    add_to_trace(s, {.process = p->id(), .kind = trace_kind::timer});
    s.put(thunk(p), put_reason::woken);
  }
}
/// Virtual time, when no process is ready: advances to the first alarm.  False if there is none.
template <class S>
[[nodiscard]] bool advance_time(S& s) noexcept {
  if (!s.has_virtual_time || s.waits.alarms.empty()) return false;
  if (instant const next = s.waits.alarms.next(); s.virtual_now_ < next) s.virtual_now_ = next;
  if constexpr (S::explores) note_time();
  wake_due(s);
  return true;
}
/// Takes the next process, and wakes the processes whose alarms are due meanwhile.
template <class S>
[[gnu::noinline]] thunk take_in_time(S& s) noexcept {
  static constexpr std::uint8_t steps_per_look = 32;  // reading the clock costs two or three steps
  try {
    if (s.has_virtual_time) {
      for (;;) {
        thunk t = s.worker().take(instant::max(), s.quiescence());
        bool const was_quiescent = !t && t.why_empty() == thunk::reason::quiescent;
        // Several threads return first; settle() then advances the time.
        if (!was_quiescent || S::on_several_threads || !advance_time(s)) return t;
      }
    }
    for (worker_state& w = s.here();; w.until_clock = 0) {
      if (w.until_clock-- == 0) {
        w.until_clock = steps_per_look;
        wake_due(s);
      }
      thunk t = s.worker().take(s.waits.alarms.next(), s.quiescence_outside());
      if (t || t.why_empty() != thunk::reason::deadline) return t;
    }
  } catch (...) {
    s.here().broken = std::current_exception();
    return thunk::reason::stopped;
  }
}

}  // namespace weft::detail
