// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <coroutine>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <utility>

#include "sched/runtime/detail/scheduling.hpp"

/// What a scheduler does for who sends, and for who receives.
namespace weft::detail {

template <backend Backend>
[[gnu::always_inline]] inline void scheduling<Backend>::require_ours(mailbox const& b) const {
  if (&b.registry() != &this->registry()) [[unlikely]]
    throw_not_ours();
}
template <backend Backend>
[[noreturn, gnu::cold, gnu::noinline]] void scheduling<Backend>::throw_not_ours() {
  throw std::logic_error("weft: this port was opened in another scheduler");
}
/// Nobody else would wait too long, and nobody is to be told something first.
template <backend Backend>
bool scheduling<Backend>::can_hand_over() noexcept {
  static constexpr std::uint8_t most = 64;
  if constexpr (hands_over<Backend>)
    return here().hand_overs < most && is_innermost() && !this->must_look_up();
  else
    return false;
}
/// Where schedules are explored: who sends to somebody who waits has ended its step, as others do
/// hand over.
template <backend Backend>
bool scheduling<Backend>::lets_receiver_first() noexcept {
  return explores && this->is_innermost() && !this->must_look_up();
}
/// Who runs goes on in its turn; `to` now.
template <backend Backend>
[[gnu::always_inline]] inline std::coroutine_handle<> scheduling<Backend>::hand_over(
    mailbox::receives to) noexcept {
  ++here().hand_overs;
  put(box(true), put_reason::handed_over);
  if constexpr (on_several_threads) worker().on_handover(*to.who);
  return go_on(to.who, to.answer);
}
template <backend Backend>
[[gnu::noinline]] void scheduling<Backend>::put_receiver(mailbox::receives r) noexcept {
  put(thunk(r.who, r.answer), put_reason::woken);
}
/// Who waited for room.
template <backend Backend>
[[gnu::noinline]] void scheduling<Backend>::put_admitted(process* p) noexcept {
  put(thunk(p, true), put_reason::woken);
}

template <backend Backend>
[[gnu::always_inline]] inline bool scheduling<Backend>::attempt(mail::send const& m,
                                                                result_slot<bool>& waiting) {
  send_waiter& s = *m.what;
  require_ours(*s.box);
  if constexpr (explores) s.box->note_use();
  mailbox::receives to{};
  bool const ends_step = can_hand_over() || lets_receiver_first();
  switch (s.box->template send<on_several_threads>(s.message, ends_step, to)) {
    case mailbox::sending::given:
      put_receiver(to);
      [[fallthrough]];
    case mailbox::sending::left:
      return waiting.set(true), true;
    case mailbox::sending::closed:
      return waiting.set(false), true;
    case mailbox::sending::hand_over:
    case mailbox::sending::full:
    case mailbox::sending::refused:
    case mailbox::sending::taken:
      break;
  }
  return false;
}
template <backend Backend>
[[gnu::always_inline]] inline std::coroutine_handle<> scheduling<Backend>::on(mail::send const& m) {
  send_waiter& s = *m.what;
  require_ours(*s.box);
  if constexpr (explores) s.box->note_use();
  process& p = running();
  if (this->must_look_up() && this->is_to_end_at(p.leaf())) [[unlikely]]
    return refuse(p);
  mailbox::receives to{};
  auto sent = s.box->template send<on_several_threads>(s.message, false, to);
  if (sent == mailbox::sending::full) [[unlikely]] {
    on_wait_begin(p);
    try {
      sent = s.box->template send_or_wait<on_several_threads>(s, p, to, this->refusing());
    } catch (...) {
      goes_on(p);
      throw;
    }
    if (sent == mailbox::sending::full) {
      waits(p);
      return next();
    }
    goes_on(p);
    if (sent == mailbox::sending::refused) return refuse(p);
  }
  if (sent == mailbox::sending::given) [[likely]] {
    if (can_hand_over()) [[likely]]
      return hand_over(to);
    put_receiver(to);
    if (lets_receiver_first()) {
      put(box(true), put_reason::yielded);
      return next();
    }
  }
  return go_on(&p, sent != mailbox::sending::closed);
}

// ---- in time

template <backend Backend>
bool scheduling<Backend>::attempt(mail::send_until const& m, result_slot<std::uint64_t>& waiting) {
  send_waiter& s = *m.what;
  require_ours(*s.box);
  if constexpr (explores) s.box->note_use();
  mailbox::receives to{};
  bool const ends_step = can_hand_over() || lets_receiver_first();
  switch (s.box->template send<on_several_threads>(s.message, ends_step, to)) {
    case mailbox::sending::given:
      put_receiver(to);
      [[fallthrough]];
    case mailbox::sending::left:
      return waiting.set(send_waiter::sent), true;
    case mailbox::sending::closed:
      return waiting.set(send_waiter::inbox_has_gone), true;
    case mailbox::sending::full:
      return !m.waits && (waiting.set(send_waiter::too_late), true);
    case mailbox::sending::hand_over:
    case mailbox::sending::refused:
    case mailbox::sending::taken:
      break;
  }
  return false;
}
/// As of mail::send; and who waits is woken by its alarm as well, or finds at once that it is late.
template <backend Backend>
std::coroutine_handle<> scheduling<Backend>::on(mail::send_until const& m) {
  send_waiter& s = *m.what;
  require_ours(*s.box);
  if constexpr (explores) s.box->note_use();
  process& p = running();
  if (this->must_look_up() && this->is_to_end_at(p.leaf())) return refuse(p);
  mailbox::receives to{};
  auto sent = s.box->template send<on_several_threads>(s.message, false, to);
  if (sent == mailbox::sending::full) {
    if (!m.waits) return go_on(&p, send_waiter::too_late);
    on_wait_begin(p);
    s.who.waits(p);
    try {
      if (!m.until || set(*m.until))
        sent = s.box->template send_or_wait_in_time<on_several_threads>(s, to, this->refusing());
      else
        sent = s.who.take() ? mailbox::sending::refused : mailbox::sending::taken;
    } catch (...) {  // by set(), before anybody can have taken it; or after it was taken to send
      (void)s.who.take();
      goes_on(p);
      throw;
    }
    if (sent == mailbox::sending::full || sent == mailbox::sending::taken) {
      waits(p);
      return next();
    }
    goes_on(p);
    if (sent == mailbox::sending::refused) return refuse(p);
  }
  if (sent == mailbox::sending::closed) return go_on(&p, send_waiter::inbox_has_gone);
  if (sent == mailbox::sending::given) {
    if (can_hand_over()) return hand_over(to);
    put_receiver(to);
    if (lets_receiver_first()) {
      put(box(send_waiter::sent), put_reason::yielded);
      return next();
    }
  }
  return go_on(&p, send_waiter::sent);
}

// ---- by id

/// Where to send to: once.
template <backend Backend>
bool scheduling<Backend>::finds(routed_send_waiter& s) noexcept {
  if (s.at.get()) return true;
  route_table* const all = this->registry().routes_if_any();
  if (!all) return false;
  s.at = all->find(s.to, s.type);
  s.by.box = s.at.get();
  return s.by.box != nullptr;
}
template <backend Backend>
bool scheduling<Backend>::attempt(routing::send const& m, result_slot<bool>& waiting) {
  if (finds(*m.what)) return attempt(mail::send(m.what->by), waiting);
  waiting.set(false);
  return true;
}
template <backend Backend>
std::coroutine_handle<> scheduling<Backend>::on(routing::send const& m) {
  if (finds(*m.what)) return on(mail::send(m.what->by));
  return go_on(&running(), false);
}

template <backend Backend>
bool scheduling<Backend>::attempt(routing::send_until const& m,
                                  result_slot<std::uint64_t>& waiting) {
  if (finds(*m.what)) return attempt(mail::send_until(m.what->by, m.until, m.waits), waiting);
  waiting.set(send_waiter::inbox_has_gone);
  return true;
}
template <backend Backend>
std::coroutine_handle<> scheduling<Backend>::on(routing::send_until const& m) {
  if (finds(*m.what)) return on(mail::send_until(m.what->by, m.until, m.waits));
  return go_on(&running(), send_waiter::inbox_has_gone);
}

/// The answer, if there is one without waiting.
template <backend Backend>
[[gnu::always_inline]] inline std::optional<std::uint64_t> scheduling<Backend>::receive_now(
    mail::receive const& m) {
  receive_waiter& r = *m.where;
  if (r.count == 1 && m.waits) [[likely]] {  // the same, in short
    mailbox& b = *r.first->box;
    require_ours(b);
    if constexpr (explores) note_access(&b, true);
    process* admitted = nullptr;
    auto const found = b.template receive<on_several_threads>(*r.first, admitted);
    if (admitted) [[unlikely]]
      put_admitted(admitted);
    if (found == mailbox::receiving::come) return 1;
    if (found == mailbox::receiving::none) return {};
    return receive_waiter::nobody_left;
  }
  return receive_now_of_several(m);
}
template <backend Backend>
[[gnu::noinline]] std::optional<std::uint64_t> scheduling<Backend>::receive_now_of_several(
    mail::receive const& m) {
  receive_waiter& r = *m.where;
  bool may_come = false;
  for (unsigned i = 0; i != r.count; ++i) {
    mailbox& b = *r.first[i].box;
    require_ours(b);
    if constexpr (explores) note_access(&b, true);
    process* admitted = nullptr;
    auto const found = b.template receive<on_several_threads>(r.first[i], admitted);
    if (admitted) [[unlikely]]
      put_admitted(admitted);
    if (found == mailbox::receiving::come) return i + 1;
    may_come |= found == mailbox::receiving::none;
  }
  if (!may_come) return receive_waiter::nobody_left;
  if (!m.waits) return receive_waiter::too_late;
  return {};
}
template <backend Backend>
[[gnu::always_inline]] inline bool scheduling<Backend>::attempt(
    mail::receive const& m, result_slot<std::uint64_t>& waiting) {
  auto const a = receive_now(m);
  if (a) waiting.set(*a);
  return a.has_value();
}
template <backend Backend>
std::coroutine_handle<> scheduling<Backend>::on(mail::receive const& m) {
  receive_waiter& r = *m.where;
  process& p = running();
  bool const must_look = this->must_look_up();
  auto const is_to_end = [&] { return this->must_look_up() && this->is_to_end_at(p.leaf()); };
  if (must_look && is_to_end()) [[unlikely]]
    return refuse(p);
  // Else it has been tried; unless there was something to look up, which is no more by now.
  if (p.is_forkable() || must_look || !m.waits) [[unlikely]]
    if (auto const a = receive_now(m)) {
      // The last who sends may have gone because it was to end, after we had asked.
      if (*a == receive_waiter::nobody_left && is_to_end()) return refuse(p);
      return go_on(&p, *a);
    }
  on_wait_begin(p);
  r.who.waits(p);
  auto const goes_on_with = [&](std::uint64_t answer) {
    goes_on(p);
    return go_on(&p, answer);
  };
  auto const is_refused = [&] {
    goes_on(p);
    return refuse(p);
  };
  auto const finds_nobody_left = [&] {
    return is_to_end() ? is_refused() : goes_on_with(receive_waiter::nobody_left);
  };
  try {
    if (r.until && !set(*r.until)) [[unlikely]]
      if (r.who.take()) return is_refused();
  } catch (...) {
    (void)r.who.take();
    goes_on(p);
    throw;
  }
  for (unsigned i = 0; i != r.count; ++i) {
    process* admitted = nullptr;
    auto const how =
        r.first[i].box->template enter<on_several_threads>(r.first[i], admitted, this->refusing());
    if (admitted) [[unlikely]]
      put_admitted(admitted);
    if (how == mailbox::entering::waits) continue;
    if (how == mailbox::entering::come) return goes_on_with(i + 1);
    if (how == mailbox::entering::refused) return is_refused();
    if (how == mailbox::entering::nothing) return finds_nobody_left();
    if (how == mailbox::entering::occupied && r.who.take()) {
      goes_on(p);
      throw std::logic_error("weft: another process receives from this inbox: one may at a time");
    }
    waits(p, wait_kind::mail);  // somebody has taken it
    return next();
  }
  if (r.count > 1) {
    r.is_everywhere.store(true, std::memory_order_seq_cst);  // seq_cst: has_looked_everywhere()
    if (!r.may_get_more() && r.who.take()) return finds_nobody_left();
  }
  waits(p, wait_kind::mail);
  return next();
}

}  // namespace weft::detail
