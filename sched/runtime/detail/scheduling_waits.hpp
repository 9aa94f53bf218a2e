// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <coroutine>
#include <cstdint>
#include <exception>
#include <optional>
#include <utility>

#include "sched/runtime/detail/scheduling.hpp"

/// What a scheduler does for who waits: for others, for what is outside, for a time.
namespace weft::detail {

/// The process that runs waits, and is no longer ours, unless `enter()` says that it is answered:
/// then it goes on in its turn; or that it is refused: then it finds `cancelled` there.
template <backend Backend>
template <class Enter>
void scheduling<Backend>::wait(waiter& who, Enter enter) {
  process& p = running();
  on_wait_begin(p);
  who.waits(p);
  entering how = entering::waits;
  try {
    how = enter();
  } catch (...) {
    if (who.take()) {
      goes_on(p);
      throw;
    }
  }
  if (how == entering::waits || !who.take()) return waits(p);  // or it has been woken meanwhile
  goes_on(p);
  if (how == entering::refused) p.must_be_told();
  put(box(true), put_reason::yielded);
}

template <backend Backend>
void scheduling<Backend>::on(syncing::wait& w) {
  wait(w.here.who, [&] { return this->enter(w.here, w.seen, this->refusing()); });
}
template <backend Backend>
void scheduling<Backend>::on(syncing::wait_until& w) {
  wait(w.here.who, [&] {
    return set(w.until) ? this->enter(w.here, w.seen, this->refusing()) : entering::refused;
  });
}
template <backend Backend>
void scheduling<Backend>::on(completions::wait& w) {
  w.here.spare = reserve_put();
  wait(w.here.who, [&] { return this->enter(w.here, this->refusing()); });
}
template <backend Backend>
void scheduling<Backend>::on(completions::wait_until& w) {
  w.here.spare = reserve_put();
  wait(w.here.who,
       [&] { return set(w.until) ? this->enter(w.here, this->refusing()) : entering::refused; });
}

// ---- time

template <backend Backend>
instant scheduling<Backend>::now() noexcept {
  return this->has_virtual_time_ ? virtual_now_ : instant::clock::now();
}
template <backend Backend>
instant scheduling<Backend>::later(instant::duration d) noexcept {
  instant const from = now();
  return d < instant::max() - from ? from + d : instant::max();
}
template <backend Backend>
void scheduling<Backend>::on(timing::sleep_for& s) {
  s.until.at(later(s.time));
  sleep(s.who, s.until);
}
template <backend Backend>
void scheduling<Backend>::sleep(waiter& who, alarm& until) {
  wait(who, [&] { return set(until) ? entering::waits : entering::refused; });
}
/// False if its process is refused: it is to end.
template <backend Backend>
bool scheduling<Backend>::set(alarm& a) {
  bool is_next = false;
  if (!this->timers_.set(a, is_next, this->refusing())) return false;
  if constexpr (requires { backend_->recheck_deadlines(); })
    if (is_next && !this->has_virtual_time_) backend_->recheck_deadlines();
  return true;
}
template <backend Backend>
void scheduling<Backend>::wake_who_is_due() noexcept {
  instant const t = now();
  while (process* const p = this->timers_.take_due(t)) put(thunk(p), put_reason::woken);
}
template <backend Backend>
[[gnu::noinline]] thunk scheduling<Backend>::take_in_time() noexcept {
  static constexpr std::uint8_t steps = 32;  // a look at the clock takes as long as two or three
  try {
    if (this->has_virtual_time_) {
      for (;;) {
        thunk t = worker().take(instant::max(), quiescence());
        bool const was_quiescent = !t && t.why_empty() == thunk::reason::quiescent;
        // Several threads end first: settle() goes on.
        if (!was_quiescent || on_several_threads || !time_goes_on()) return t;
      }
    }
    for (desk& d = here();; d.until_clock = 0) {
      if (d.until_clock-- == 0) {
        d.until_clock = steps;
        wake_who_is_due();
      }
      thunk t = worker().take(this->timers_.next(), this->quiescence_outside());
      if (t || t.why_empty() != thunk::reason::deadline) return t;
    }
  } catch (...) {
    here().broken = std::current_exception();
    return thunk::reason::stopped;
  }
}
/// Nobody is ready: it is as late now as the first of those who sleep says, if there is one.
template <backend Backend>
bool scheduling<Backend>::time_goes_on() noexcept {
  if (!this->has_virtual_time_ || this->timers_.empty()) return false;
  virtual_now_ = std::max(virtual_now_, this->timers_.next());
  if constexpr (explores) note_time();
  wake_who_is_due();
  return true;
}

}  // namespace weft::detail
