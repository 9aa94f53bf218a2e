// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <coroutine>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <utility>

#include "weft/effects/handle.hpp"
#include "weft/sched/base/backend.hpp"
#include "weft/sched/base/detail/location_listener.hpp"
#include "weft/sched/base/process.hpp"
#include "weft/sched/base/thunk.hpp"
#include "weft/sched/mail/detail/mail_waiters.hpp"
#include "weft/sched/mail/detail/mailbox.hpp"
#include "weft/sched/mail/detail/mailbox_registry.hpp"
#include "weft/sched/mail/detail/tracing_mail.hpp"
#include "weft/sched/mail/mail.hpp"
#include "weft/sched/mail/routing.hpp"

/// The clauses of mail and routing.  `S` is a scheduler (backend_scheduler.hpp).
///
/// A send or a receive is attempted first: `attempt(s, operation, waiting)` stores the answer in
/// the slot `waiting`, if the operation can be answered without suspending the process.  Otherwise
/// the process is suspended, and `on()` either answers it, or leaves it waiting at the mailbox.
namespace weft::detail {

template <class S>
[[nodiscard]] mailbox_registry* on(S& s, mail::open const&) {
  return &s.waits.mail();
}

[[noreturn, gnu::cold, gnu::noinline]] inline void throw_foreign_port() {
  throw std::logic_error("weft: this port was opened in another scheduler");
}
template <class S>
[[gnu::always_inline]] inline void require_own_port(S& s, mailbox const& b) {
  if (&b.registry() != &s.waits.mail()) [[unlikely]]
    throw_foreign_port();
}
/// Whether a sender may hand over, so that the receiver runs in its place.  A hand-over is not
/// allowed too often in a row, since other processes would wait too long; nor while a cancellation
/// needs attention; nor while a sender that is not yet suspended is inside a handler.
template <class S>
[[nodiscard]] bool may_hand_over(S& s) noexcept {
  static constexpr std::uint8_t most = 64;
  if constexpr (hands_over<typename S::backend_type>)
    return s.here().hand_overs < most && s.is_innermost() && !s.cancellation.needs_attention();
  else
    return false;
}
/// Where schedules are explored: whether a send to a waiting process ends the step of the sender.
/// With other backends the sender hands over there, so other processes run before it goes on.
template <class S>
[[nodiscard]] bool ends_step_of_sender(S& s) noexcept {
  return S::explores && s.is_innermost() && !s.cancellation.needs_attention();
}
/// Runs the receiver now, and puts the sender, which goes on in its turn.
template <class S>
[[gnu::always_inline]] inline std::coroutine_handle<> hand_over(
    S& s, mailbox::woken_receiver to) noexcept {
  ++s.here().hand_overs;
  s.put(s.box(true), put_reason::handed_over);
  if constexpr (S::on_several_threads) s.worker().on_handover(*to.receiver);
  return s.resume(to.receiver, to.answer);
}
template <class S>
[[gnu::noinline]] void put_receiver(S& s, mailbox::woken_receiver to) noexcept {
  s.put(thunk(to.receiver, to.answer), put_reason::woken);
}
/// Puts a sender that waited for room, and whose message is stored now.
template <class S>
[[gnu::noinline]] void put_admitted(S& s, process* p, mailbox const& b) noexcept {
  trace_message(s, trace_kind::send, *p, b);
  s.put(thunk(p, true), put_reason::woken);
}
/// Whether the running process is cancelled, and so neither sends nor receives.
template <class S>
[[nodiscard]] bool must_end(S& s, process const& p) noexcept {
  return s.cancellation.needs_attention() && s.cancellation.includes(p.leaf());
}

// ---- sending

template <class S>
[[gnu::always_inline]] inline bool attempt(S& s, mail::send const& o, result_slot<bool>& waiting) {
  send_waiter& w = *o.what;
  require_own_port(s, *w.box);
  if constexpr (S::explores) w.box->note_use();
  mailbox::woken_receiver to{};
  bool const ends_step = may_hand_over(s) || ends_step_of_sender(s);
  switch (w.box->template send<S::on_several_threads>(w.message, ends_step, to)) {
    case mailbox::send_outcome::handed:
      trace_sent(s, *w.box, to.receiver);
      put_receiver(s, to);
      [[fallthrough]];
    case mailbox::send_outcome::stored:
      if constexpr (S::traces)
        if (!to.receiver) trace_sent(s, *w.box, nullptr);
      return waiting.set(true), true;
    case mailbox::send_outcome::closed:
      return waiting.set(false), true;
    case mailbox::send_outcome::hand_over:
    case mailbox::send_outcome::full:
    case mailbox::send_outcome::refused:
    case mailbox::send_outcome::taken:
      break;
  }
  return false;
}
/// Called after a receiver was given the message: puts the receiver, and answers the sender.
template <class S>
[[gnu::always_inline]] inline std::coroutine_handle<> after_giving(S& s, mailbox::woken_receiver to,
                                                                   std::uint64_t answer) noexcept {
  put_receiver(s, to);
  if (ends_step_of_sender(s)) {
    s.put(s.box(answer), put_reason::yielded);
    return s.next();
  }
  return s.resume(&s.running(), answer);
}
template <class S>
[[gnu::always_inline]] inline std::coroutine_handle<> on(S& s, mail::send const& o) {
  send_waiter& w = *o.what;
  require_own_port(s, *w.box);
  if constexpr (S::explores) w.box->note_use();
  process& p = s.running();
  if (must_end(s, p)) [[unlikely]]
    return s.refuse(p);
  mailbox::woken_receiver to{};
  auto sent = w.box->template send<S::on_several_threads>(w.message, false, to);
  if (sent == mailbox::send_outcome::full) [[unlikely]] {
    s.on_wait_begin(p);
    try {
      sent =
          w.box->template send_or_wait<S::on_several_threads>(w, p, to, s.cancellation.refuses());
    } catch (...) {
      s.on_wait_cancelled(p);
      throw;
    }
    if (sent == mailbox::send_outcome::full) {
      s.on_waiting(p);
      return s.next();
    }
    s.on_wait_cancelled(p);
    if (sent == mailbox::send_outcome::refused) return s.refuse(p);
  }
  if (sent == mailbox::send_outcome::handed) [[likely]] {
    trace_sent(s, *w.box, to.receiver);
    if (may_hand_over(s)) [[likely]]
      return hand_over(s, to);
    return after_giving(s, to, true);
  }
  if constexpr (S::traces)
    if (sent == mailbox::send_outcome::stored) trace_sent(s, *w.box, nullptr);
  return s.resume(&p, sent != mailbox::send_outcome::closed);
}

// ---- sending with a deadline

template <class S>
bool attempt(S& s, mail::send_until const& o, result_slot<std::uint64_t>& waiting) {
  send_waiter& w = *o.what;
  require_own_port(s, *w.box);
  if constexpr (S::explores) w.box->note_use();
  mailbox::woken_receiver to{};
  bool const ends_step = may_hand_over(s) || ends_step_of_sender(s);
  switch (w.box->template send<S::on_several_threads>(w.message, ends_step, to)) {
    case mailbox::send_outcome::handed:
      trace_sent(s, *w.box, to.receiver);
      put_receiver(s, to);
      [[fallthrough]];
    case mailbox::send_outcome::stored:
      if constexpr (S::traces)
        if (!to.receiver) trace_sent(s, *w.box, nullptr);
      return waiting.set(send_waiter::sent), true;
    case mailbox::send_outcome::closed:
      return waiting.set(send_waiter::inbox_has_gone), true;
    case mailbox::send_outcome::full:
      return !o.waits && (waiting.set(send_waiter::too_late), true);
    case mailbox::send_outcome::hand_over:
    case mailbox::send_outcome::refused:
    case mailbox::send_outcome::taken:
      break;
  }
  return false;
}
/// As mail::send; a sender that waits is also woken by its alarm, or finds at once that it is too
/// late.
template <class S>
std::coroutine_handle<> on(S& s, mail::send_until const& o) {
  send_waiter& w = *o.what;
  require_own_port(s, *w.box);
  if constexpr (S::explores) w.box->note_use();
  process& p = s.running();
  if (must_end(s, p)) return s.refuse(p);
  mailbox::woken_receiver to{};
  auto sent = w.box->template send<S::on_several_threads>(w.message, false, to);
  if (sent == mailbox::send_outcome::full) {
    if (!o.waits) return s.resume(&p, send_waiter::too_late);
    s.on_wait_begin(p);
    w.parked.hold(p);
    try {
      if (!o.until || set_alarm(s, *o.until))
        sent = w.box->template send_or_wait_in_time<S::on_several_threads>(
            w, to, s.cancellation.refuses());
      else
        sent = w.parked.take() ? mailbox::send_outcome::refused : mailbox::send_outcome::taken;
    } catch (...) {
      // Thrown by set_alarm(), before another party could take the process; or by the storing of
      // the message, after this thread has taken the process.
      (void)w.parked.take();
      s.on_wait_cancelled(p);
      throw;
    }
    if (sent == mailbox::send_outcome::full || sent == mailbox::send_outcome::taken) {
      s.on_waiting(p);
      return s.next();
    }
    s.on_wait_cancelled(p);
    if (sent == mailbox::send_outcome::refused) return s.refuse(p);
  }
  if (sent == mailbox::send_outcome::closed) return s.resume(&p, send_waiter::inbox_has_gone);
  if (sent == mailbox::send_outcome::handed) {
    trace_sent(s, *w.box, to.receiver);
    if (may_hand_over(s)) return hand_over(s, to);
    return after_giving(s, to, send_waiter::sent);
  }
  trace_sent(s, *w.box, nullptr);
  return s.resume(&p, send_waiter::sent);
}

// ---- sending by id

template <class S>
[[nodiscard]] own_route on(S& s, routing::open const&) {
  return {&s.waits.mail(), s.running().id()};
}
/// Looks up the mailbox, unless that was done before.  False if the process `w.to` has no inbox
/// for messages of this type.
template <class S>
[[nodiscard]] bool find_route(S& s, routed_send_waiter& w) noexcept {
  if (w.at.get()) return true;
  route_table* const all = s.waits.mail().routes_if_any();
  if (!all) return false;
  w.at = all->find(w.to, w.type);
  w.by.box = w.at.get();
  return w.by.box != nullptr;
}
template <class S>
bool attempt(S& s, routing::send const& o, result_slot<bool>& waiting) {
  if (find_route(s, *o.what)) return attempt(s, mail::send(o.what->by), waiting);
  waiting.set(false);
  return true;
}
template <class S>
std::coroutine_handle<> on(S& s, routing::send const& o) {
  if (find_route(s, *o.what)) return on(s, mail::send(o.what->by));
  return s.resume(&s.running(), false);
}
template <class S>
bool attempt(S& s, routing::send_until const& o, result_slot<std::uint64_t>& waiting) {
  if (find_route(s, *o.what))
    return attempt(s, mail::send_until(o.what->by, o.until, o.waits), waiting);
  waiting.set(send_waiter::inbox_has_gone);
  return true;
}
template <class S>
std::coroutine_handle<> on(S& s, routing::send_until const& o) {
  if (find_route(s, *o.what)) return on(s, mail::send_until(o.what->by, o.until, o.waits));
  return s.resume(&s.running(), send_waiter::inbox_has_gone);
}

// ---- receiving

/// Receives, if that is possible without waiting, and returns the answer.  Nothing if the process
/// has to wait.
template <class S>
[[gnu::always_inline]] inline std::optional<std::uint64_t> find_message(S& s,
                                                                        mail::receive const& o) {
  receive_waiter& w = *o.where;
  if (w.count == 1 && o.waits) [[likely]] {  // the common case of find_message_of_several()
    mailbox& b = *w.first->box;
    require_own_port(s, b);
    if constexpr (S::explores) note_access(&b, true);
    process* admitted = nullptr;
    auto const found = b.template receive<S::on_several_threads>(*w.first, admitted);
    if (admitted) [[unlikely]]
      put_admitted(s, admitted, b);
    if (found == mailbox::receive_outcome::received) {
      trace_message(s, trace_kind::receive, s.running(), b);
      return 1;
    }
    if (found == mailbox::receive_outcome::empty) return {};
    return receive_waiter::no_senders_left;
  }
  return find_message_of_several(s, o);
}
template <class S>
[[gnu::noinline]] std::optional<std::uint64_t> find_message_of_several(S& s,
                                                                       mail::receive const& o) {
  receive_waiter& w = *o.where;
  bool may_come = false;
  for (unsigned i = 0; i != w.count; ++i) {
    mailbox& b = *w.first[i].box;
    require_own_port(s, b);
    if constexpr (S::explores) note_access(&b, true);
    process* admitted = nullptr;
    auto const found = b.template receive<S::on_several_threads>(w.first[i], admitted);
    if (admitted) [[unlikely]]
      put_admitted(s, admitted, b);
    if (found == mailbox::receive_outcome::received) {
      trace_message(s, trace_kind::receive, s.running(), b);
      return i + 1;
    }
    may_come |= found == mailbox::receive_outcome::empty;
  }
  if (!may_come) return receive_waiter::no_senders_left;
  if (!o.waits) return receive_waiter::too_late;
  return {};
}
template <class S>
[[gnu::always_inline]] inline bool attempt(S& s, mail::receive const& o,
                                           result_slot<std::uint64_t>& waiting) {
  auto const answer = find_message(s, o);
  if (answer) waiting.set(*answer);
  return answer.has_value();
}
template <class S>
std::coroutine_handle<> on(S& s, mail::receive const& o) {
  receive_waiter& w = *o.where;
  process& p = s.running();
  bool const needed_attention = s.cancellation.needs_attention();
  if (needed_attention && must_end(s, p)) [[unlikely]]
    return s.refuse(p);
  // The receive has been attempted before, unless the process keeps a log, or a cancellation needed
  // attention at that time.  If it needed attention then and no longer does, enter() below looks
  // for messages; a receive that must not wait does not get there, and is attempted here.
  if (p.is_forkable() || needed_attention || !o.waits) [[unlikely]]
    if (auto const answer = find_message(s, o)) {
      // The last sender may have been cancelled after the check above, and have ended.  If this
      // process is cancelled with it, it finds that instead of the answer.
      if (*answer == receive_waiter::no_senders_left && must_end(s, p)) return s.refuse(p);
      return s.resume(&p, *answer);
    }
  s.on_wait_begin(p);
  w.parked.hold(p);
  auto const resume_with = [&](std::uint64_t answer) {
    s.on_wait_cancelled(p);
    return s.resume(&p, answer);
  };
  auto const refuse = [&] {
    s.on_wait_cancelled(p);
    return s.refuse(p);
  };
  auto const resume_without_senders = [&] {
    return must_end(s, p) ? refuse() : resume_with(receive_waiter::no_senders_left);
  };
  try {
    if (w.until && !set_alarm(s, *w.until)) [[unlikely]]
      if (w.parked.take()) return refuse();
  } catch (...) {
    (void)w.parked.take();
    s.on_wait_cancelled(p);
    throw;
  }
  for (unsigned i = 0; i != w.count; ++i) {
    process* admitted = nullptr;
    auto const how = w.first[i].box->template enter<S::on_several_threads>(
        w.first[i], admitted, s.cancellation.refuses());
    if (admitted) [[unlikely]]
      put_admitted(s, admitted, *w.first[i].box);
    if (how == mailbox::enter_outcome::waits) continue;
    if (how == mailbox::enter_outcome::received) {
      trace_message(s, trace_kind::receive, p, *w.first[i].box);
      return resume_with(i + 1);
    }
    if (how == mailbox::enter_outcome::refused) return refuse();
    if (how == mailbox::enter_outcome::no_senders) return resume_without_senders();
    if (how == mailbox::enter_outcome::occupied && w.parked.take()) {
      s.on_wait_cancelled(p);
      throw std::logic_error("weft: another process receives from this inbox: one at a time may");
    }
    s.on_waiting(p, wait_kind::mail);  // another party has taken the process, and puts it
    return s.next();
  }
  if (w.count > 1) {
    // seq_cst: stored before may_get_more() reads the counts of addresses (MAILBOX-4).
    w.is_everywhere.store(true, std::memory_order_seq_cst);
    if (!w.may_get_more() && w.parked.take()) return resume_without_senders();
  }
  s.on_waiting(p, wait_kind::mail);
  return s.next();
}

}  // namespace weft::detail
