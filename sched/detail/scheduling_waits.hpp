// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <coroutine>
#include <cstdint>
#include <exception>
#include <optional>
#include <utility>

#include "sched/detail/scheduling.hpp"

/// What a scheduler does for who waits: for others, for what is outside, for a time.
namespace weft::detail {

/// The process that runs waits, and is no longer ours, unless `enter()` gives an answer: then it
/// goes on with that, in its turn; or, if it was refused, with `cancelled`.
template <backend Backend>
template <class Enter>
void scheduling<Backend>::wait(waiter& who, Enter enter) {
  process& p = running();
  is_about_to_wait(p);
  who.waits(p);
  std::optional<std::uint64_t> answer;
  try {
    answer = enter();
  } catch (...) {
    if (who.take()) {
      goes_on(p);
      throw;
    }
  }
  if (!answer || !who.take()) return waits(p);  // or it has been woken meanwhile
  goes_on(p);
  put(box(*answer), why::yielded);
}

template <backend Backend>
void scheduling<Backend>::on(syncing::wait& w) {
  wait(w.here.who, [&]() -> std::optional<std::uint64_t> {
    if (this->enter(w.here, w.seen, this->refusing())) return {};
    return 1;
  });
}
template <backend Backend>
void scheduling<Backend>::on(syncing::wait_until& w) {
  wait(w.here.who, [&]() -> std::optional<std::uint64_t> {
    if (!set(w.until)) return 0;
    if (this->enter(w.here, w.seen, this->refusing())) return {};
    return 1;
  });
}
template <backend Backend>
void scheduling<Backend>::on(completing::wait& w) {
  wait(w.here.who, [&]() -> std::optional<std::uint64_t> {
    if (this->enter(w.here, this->refusing())) return {};
    return 1;
  });
}
template <backend Backend>
void scheduling<Backend>::on(completing::wait_until& w) {
  wait(w.here.who, [&]() -> std::optional<std::uint64_t> {
    if (!set(w.until)) return 0;
    if (this->enter(w.here, this->refusing())) return {};
    return 1;
  });
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
  wait(who, [&]() -> std::optional<std::uint64_t> {
    if (set(until)) return {};
    return 0;
  });
}
/// False if it is not to be waited for any more.
template <backend Backend>
bool scheduling<Backend>::set(alarm& a) {
  bool is_next = false;
  if (!this->timers_.set(a, is_next, this->refusing())) return false;
  if constexpr (requires { backend_->look_again(); })
    if (is_next && !this->has_virtual_time_) backend_->look_again();
  return true;
}
template <backend Backend>
void scheduling<Backend>::wake_who_is_due() noexcept {
  instant const t = now();
  while (process* const p = this->timers_.take_due(t)) put(thunk(p), why::woken);
}
template <backend Backend>
[[gnu::noinline]] thunk scheduling<Backend>::take_in_time() noexcept {
  static constexpr std::uint8_t steps = 32;  // a look at the clock takes as long as two or three
  try {
    if (this->has_virtual_time_) {
      for (;;) {
        thunk t = worker().take(instant::max(), is_dry());
        bool const was_dry = !t && t.why_empty() == thunk::nothing::dry;
        // Several threads end first: settle() goes on.
        if (!was_dry || on_several_threads || !time_goes_on()) return t;
      }
    }
    for (desk& d = here();; d.until_clock = 0) {
      if (d.until_clock-- == 0) {
        d.until_clock = steps;
        wake_who_is_due();
      }
      thunk t = worker().take(this->timers_.next(), this->dry());
      if (t || t.why_empty() != thunk::nothing::deadline) return t;
    }
  } catch (...) {
    here().broken = std::current_exception();
    return thunk::nothing::stopped;
  }
}
/// Nobody is ready: it is as late now as the first of those who sleep says, if there is one.
template <backend Backend>
bool scheduling<Backend>::time_goes_on() noexcept {
  if (!this->has_virtual_time_ || this->timers_.empty()) return false;
  virtual_now_ = std::max(virtual_now_, this->timers_.next());
  if constexpr (explores) time_passes();
  wake_who_is_due();
  return true;
}

}  // namespace weft::detail
