// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <cstdint>
#include <exception>
#include <optional>
#include <stdexcept>
#include <utility>

#include "sched/detail/scheduling.hpp"

/// What a scheduler does for who waits: for others, for a time, for messages; and who sends them.
namespace weft::detail {

/// The process that runs waits, and is no longer ours, unless `enter()` gives an answer: then it
/// goes on with that, in its turn.
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
    if (this->enter(w.here, w.seen)) return {};
    return 1;
  });
}
template <backend Backend>
void scheduling<Backend>::on(syncing::wait_until& w) {
  wait(w.here.who, [&]() -> std::optional<std::uint64_t> {
    if (!set(w.until)) return 0;
    if (this->enter(w.here, w.seen)) return {};
    return 1;
  });
}
template <backend Backend>
void scheduling<Backend>::on(completing::wait const& w) {
  process& p = running();
  is_about_to_wait(p);
  bool is_open = false;
  try {
    is_open = !this->enter(*w.at, p);
  } catch (...) {
    goes_on(p);
    throw;
  }
  if (!is_open) return waits(p);
  goes_on(p);
  put(box(), why::yielded);
}

// ---- time

template <backend Backend>
instant scheduling<Backend>::now() noexcept {
  return this->has_virtual_time_ ? virtual_now_ : instant::clock::now();
}
template <backend Backend>
void scheduling<Backend>::on(timing::sleep_for& s) {
  instant const from = now();
  s.until.at(s.time < instant::max() - from ? from + s.time : instant::max());
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
  if (!this->timers_.set(a, is_next)) return false;
  if constexpr (requires { backend_->look_again(); })
    if (is_next) backend_->look_again();
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
    for (desk& d = here();; d.until_clock = 0) {
      if (d.until_clock == 0) {
        d.until_clock = steps;
        wake_who_is_due();
      }
      --d.until_clock;
      thunk t = worker().take(this->timers_.next(), this->dry());
      if (t || t.why_empty() != thunk::nothing::deadline) return t;
    }
  } catch (...) {
    here().broken = std::current_exception();
    return thunk::nothing::stopped;
  }
}

// ---- mail

template <backend Backend>
void scheduling<Backend>::require_ours(mailbox const& b) const {
  if (&b.office() != &this->office())
    throw std::logic_error("weft: this port was opened in another scheduler");
}
/// Nobody else would wait too long.
template <backend Backend>
bool scheduling<Backend>::can_hand_over() noexcept {
  static constexpr std::uint8_t most = 64;
  if constexpr (hands_over<Backend>)
    return here().hand_overs < most && is_innermost();
  else
    return false;
}
/// Who runs goes on in its turn; `to` now.
template <backend Backend>
std::coroutine_handle<> scheduling<Backend>::hand_over(thunk to) noexcept {
  ++here().hand_overs;
  put(box(true), why::yielded);
  if constexpr (on_several_threads) Backend::runs_next(*to.get());
  std::uint64_t const answer = to.answer();
  return go_on(to.release(), answer);
}

template <backend Backend>
bool scheduling<Backend>::attempt(mail::send const& m, answer<bool>& waiting) {
  sender& s = *m.what;
  require_ours(*s.box);
  thunk to = thunk::nothing::dry;
  switch (s.box->send(s.message, can_hand_over(), to)) {
    case mailbox::sending::left:
      return waiting.set(true), true;
    case mailbox::sending::closed:
      return waiting.set(false), true;
    case mailbox::sending::to_whom:
      put(std::move(to), why::woken);
      return waiting.set(true), true;
    case mailbox::sending::hand_over:
    case mailbox::sending::full:
      break;
  }
  return false;
}
template <backend Backend>
std::coroutine_handle<> scheduling<Backend>::on(mail::send const& m) {
  sender& s = *m.what;
  require_ours(*s.box);
  process& p = running();
  is_about_to_wait(p);
  s.who.waits(p);
  thunk to = thunk::nothing::dry;
  auto sent = mailbox::sending::closed;
  try {
    sent = s.box->send_or_wait(s, to);
  } catch (...) {
    (void)s.who.take();
    goes_on(p);
    throw;
  }
  if (sent == mailbox::sending::full) {
    waits(p);
    return next();
  }
  (void)s.who.take();  // nobody else has found it
  goes_on(p);
  if (to) {
    if (can_hand_over()) return hand_over(std::move(to));
    put(std::move(to), why::woken);
  }
  return go_on(&p, sent != mailbox::sending::closed);
}

/// The answer, if there is one without waiting.
template <backend Backend>
std::optional<std::uint64_t> scheduling<Backend>::receive_now(mail::receive const& m) {
  receiver& r = *m.where;
  bool may_come = false;
  for (unsigned i = 0; i != r.count; ++i) {
    mailbox& b = *r.first[i].box;
    require_ours(b);
    thunk admitted = thunk::nothing::dry;
    auto const found = b.receive(r.first[i], admitted);
    if (admitted) put(std::move(admitted), why::woken);
    if (found == mailbox::receiving::come) return i + 1;
    may_come |= found == mailbox::receiving::none;
  }
  if (!may_come) return receiver::nobody_left;
  if (!m.waits) return receiver::too_late;
  return {};
}
template <backend Backend>
bool scheduling<Backend>::attempt(mail::receive const& m, answer<std::uint64_t>& waiting) {
  auto const a = receive_now(m);
  if (a) waiting.set(*a);
  return a.has_value();
}
template <backend Backend>
std::coroutine_handle<> scheduling<Backend>::on(mail::receive const& m) {
  receiver& r = *m.where;
  process& p = running();
  if (auto const a = receive_now(m)) return go_on(&p, *a);
  is_about_to_wait(p);
  r.who.waits(p);
  auto const with = [&](std::uint64_t answer) {
    goes_on(p);
    return go_on(&p, answer);
  };
  bool is_taken = false;
  try {
    if (r.until.at() != instant::max() && !set(r.until))
      if (r.who.take()) return with(receiver::too_late);
  } catch (...) {
    goes_on(p);
    (void)r.who.take();
    throw;
  }
  for (unsigned i = 0; i != r.count && !is_taken; ++i) {
    thunk admitted = thunk::nothing::dry;
    auto const how = r.first[i].box->enter(r.first[i], admitted);
    if (admitted) put(std::move(admitted), why::woken);
    switch (how) {
      case mailbox::entering::waits:
        break;
      case mailbox::entering::come:
        return with(i + 1);
      case mailbox::entering::nothing:
        return with(receiver::nobody_left);
      case mailbox::entering::taken:
        is_taken = true;
        break;
      case mailbox::entering::occupied:
        if (!r.who.take()) break;
        goes_on(p);
        throw std::logic_error("weft: another process receives from this inbox: one may at a time");
    }
  }
  if (!is_taken && r.count > 1 && !r.may_get_more() && r.who.take())
    return with(receiver::nobody_left);
  waits(p);
  return next();
}

}  // namespace weft::detail
