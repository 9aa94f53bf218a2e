// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <atomic>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <utility>

#include "weft/effects/handle.hpp"
#include "weft/sched/base/backend.hpp"
#include "weft/sched/base/detail/location_listener.hpp"
#include "weft/sched/base/detail/scheduling_services.hpp"
#include "weft/sched/base/process.hpp"
#include "weft/sched/base/thunk.hpp"
#include "weft/sched/base/trace_event.hpp"
#include "weft/sched/mail/detail/direct_mail.hpp"
#include "weft/sched/mail/detail/mail_waiters.hpp"
#include "weft/sched/mail/detail/mailbox.hpp"
#include "weft/sched/mail/detail/mailbox_registry.hpp"
#include "weft/sched/mail/mail.hpp"
#include "weft/sched/mail/routing.hpp"

/// The clauses of mail and routing.  `S` is a scheduler (backend_scheduler.hpp).
///
/// A send or a receive is done directly, without its operation, if that is possible
/// (direct_mail.hpp).  Otherwise `attempt(s, operation, waiting)` stores the answer in the slot
/// `waiting`, if the operation can be answered without suspending the process.  Otherwise the
/// process is suspended, and `on()` either answers it, or leaves it waiting at the mailbox.
///
/// The way of a message for which a receiver waits already: the receiver has stopped at its
/// operation, and the mailbox points to its place for the message (waits_in_place() and
/// wait_in_place(), receive_clauses.hpp).  The sender stops, too, and on_send() *gives* the
/// message: moves it from the sender's frame into that place.  Then the sender *hands over*, if it
/// may: it goes back into the queue, and the receiver runs on in its step.
namespace weft::detail {

template <scheduling_services S>
[[nodiscard]] mailbox_registry* on(S& s, mail::open const&) {
  return &s.waits.mail();
}

[[noreturn, gnu::cold, gnu::noinline]] inline void throw_foreign_port() {
  throw std::logic_error("weft: this port was opened in another scheduler");
}
template <scheduling_services S>
[[gnu::always_inline]] inline void require_own_port(S& s, mailbox const& b) {
  if (&b.registry() != &s.waits.mail()) [[unlikely]]
    throw_foreign_port();
}
/// Adds to the trace that the running process has sent a message, and, unless `receiver` is null,
/// that the waiting receiver has received it.
template <class S>
void trace_sent(S& s, mailbox const& b, process const* receiver) noexcept {
  S::observer::on_message(s, trace_kind::send, s.running(), b);
  if (receiver) S::observer::on_message(s, trace_kind::receive, *receiver, b);
}
/// Counts a message that is sent or received without waiting.  False if the process must give way,
/// since its step has had its share of operations (worker_state.hpp).  A process inside a handler
/// need not give way.
template <scheduling_services S>
[[nodiscard, gnu::always_inline]] inline bool may_go_on(S& s) noexcept {
  if (!S::observer::limits_steps || s.here().count_operation()) [[likely]]
    return true;
  return !s.is_innermost() || !prompt::frames_may_wait();
}
/// Counts the messages of a batch after the first in the share of the step.
template <scheduling_services S>
void count_batch(S& s, message_batch const& more) noexcept {
  s.here().count_operations(more.done);
}
/// Resumes the running process, which has sent or received; or puts it, if its step has had its
/// share of operations.
template <scheduling_services S>
[[gnu::always_inline]] inline std::coroutine_handle<> go_on(S& s, std::uint64_t answer) noexcept {
  if (!S::observer::limits_steps || s.here().count_operation()) [[likely]]
    return s.resume(&s.running(), answer);
  s.put(s.box(answer), put_reason::yielded);
  return s.next();
}
/// Whether a sender hands over, so that the receiver runs in its place: not if the sender has just
/// sent another message, since it will most likely send more; not too often in a row, since other
/// processes would wait too long; not while a cancellation needs attention; and not while a sender
/// that is not yet suspended is inside a handler (once it is suspended, it does not matter).
template <scheduling_services S>
[[nodiscard]] bool may_hand_over(S& s, bool has_just_sent) noexcept {
  static constexpr std::uint8_t most = 64;
  if constexpr (hands_over<typename S::backend_type>)
    return !has_just_sent && s.here().hand_overs < most && s.is_innermost() &&
           !s.cancellation.needs_attention();
  else
    return false;
}
/// Runs the receiver now, and puts the sender with its answer: the sender goes on in its turn.
template <scheduling_services S>
[[gnu::always_inline]] inline std::coroutine_handle<> hand_over(S& s, mailbox::woken_receiver to,
                                                                std::uint64_t answer) noexcept {
  ++s.here().hand_overs;
  s.put(s.box(answer), put_reason::handed_over);
  if constexpr (S::on_several_threads) s.worker().on_handover(*to.receiver);
  return s.resume(to.receiver, to.answer);
}
template <scheduling_services S>
[[gnu::noinline]] void put_receiver(S& s, mailbox::woken_receiver to) noexcept {
  S::observer::on_wake(s, *to.receiver);
  s.put(thunk(to.receiver, to.answer), put_reason::woken);
}
/// Puts a sender that waited for room, and whose message is stored now.
template <scheduling_services S>
[[gnu::noinline]] void put_admitted(S& s, process* p, mailbox const& b) noexcept {
  S::observer::on_message(s, trace_kind::send, *p, b);
  S::observer::on_wake(s, *p);
  s.put(thunk(p, true), put_reason::woken);
}
/// Whether the running process is cancelled, and so neither sends nor receives.
template <scheduling_services S>
[[nodiscard]] bool must_end(S& s, process const& p) noexcept {
  return s.cancellation.needs_attention() && s.cancellation.includes(p.leaf());
}

// ---- sending

/// A send of any kind: its messages, and the options that its operation sets.
struct sending {
  send_waiter& by;
  message_batch* more = nullptr;  // the messages after the first; null if there is one message
  alarm* until = nullptr;  // wakes a sender that waits for room; null if there is no deadline
  bool waits = true;       // whether the sender waits for room
  std::uint64_t if_inbox_gone = 0;  // the answer if the inbox was destroyed

  explicit sending(mail::send const& o) noexcept : by(*o.waiter) {}
  explicit sending(mail::send_many const& o) noexcept : by(*o.waiter), more(o.more) {}
  explicit sending(mail::send_until const& o) noexcept
      : by(*o.waiter), until(o.until), waits(o.waits), if_inbox_gone(send_waiter::inbox_has_gone) {}
};

/// Sends the messages after the first, while there is room for them and no process waits for a
/// message.  Returns how many messages were sent, including the first.
template <scheduling_services S>
[[nodiscard, gnu::noinline]] std::uint64_t send_more(S& s, mailbox& b,
                                                     message_batch& more) noexcept {
  mailbox::woken_receiver to{};
  try {
    while (more.left != 0 && !to.receiver) {
      auto const sent = b.template send<S::on_several_threads>(more.next, true, to);
      if (sent != mailbox::send_outcome::stored && sent != mailbox::send_outcome::given) break;
      trace_sent(s, b, to.receiver);
      more.advance();
    }
  } catch (...) {  // no memory: the messages before this one are sent
  }
  // A receiver that has begun to wait during the loop may have been given a message.
  if (to.receiver) put_receiver(s, to);
  count_batch(s, more);
  return 1 + more.done;
}
template <scheduling_services S, class Answer>
[[gnu::always_inline]] inline bool attempt_send(S& s, sending const& how,
                                                result_slot<Answer>& waiting) {
  if (!may_go_on(s)) [[unlikely]]
    return false;
  mailbox& b = *how.by.box;
  require_own_port(s, b);
  S::observer::on_send(s, b);
  mailbox::woken_receiver to{};
  process& p = s.running();
  bool const ends_step = may_hand_over(s, p.has_just_sent()) || S::observer::ends_step_of_sender(s);
  switch (b.template send<S::on_several_threads>(how.by.message, ends_step, to)) {
    case mailbox::send_outcome::given:
      trace_sent(s, b, to.receiver);
      put_receiver(s, to);
      [[fallthrough]];
    case mailbox::send_outcome::stored:
      p.note_sent(true);
      if (!to.receiver) trace_sent(s, b, nullptr);
      return waiting.set(static_cast<Answer>(how.more ? send_more(s, b, *how.more) : 1)), true;
    case mailbox::send_outcome::closed:
      return waiting.set(static_cast<Answer>(how.if_inbox_gone)), true;
    case mailbox::send_outcome::full:
      return !how.waits && (waiting.set(static_cast<Answer>(send_waiter::too_late)), true);
    case mailbox::send_outcome::receiver_waits:
    case mailbox::send_outcome::refused:
    case mailbox::send_outcome::taken:
      break;
  }
  return false;
}
template <scheduling_services S>
[[gnu::always_inline]] inline bool attempt(S& s, mail::send const& o, result_slot<bool>& waiting) {
  return attempt_send(s, sending(o), waiting);
}
template <scheduling_services S>
bool attempt(S& s, mail::send_many const& o, result_slot<std::uint64_t>& waiting) {
  return attempt_send(s, sending(o), waiting);
}
template <scheduling_services S>
bool attempt(S& s, mail::send_until const& o, result_slot<std::uint64_t>& waiting) {
  return attempt_send(s, sending(o), waiting);
}
/// Called after a receiver was given the message: puts the receiver, and answers the sender.
template <scheduling_services S>
[[gnu::always_inline]] inline std::coroutine_handle<> after_giving(S& s, mailbox::woken_receiver to,
                                                                   std::uint64_t answer) noexcept {
  put_receiver(s, to);
  if (S::observer::ends_step_of_sender(s)) {
    s.put(s.box(answer), put_reason::yielded);
    return s.next();
  }
  return go_on(s, answer);
}
/// Goes on after a message was stored or handed to a receiver, or after the mailbox was closed.
template <scheduling_services S>
[[gnu::always_inline]] inline std::coroutine_handle<> after_sending(S& s, sending const& how,
                                                                    mailbox::send_outcome sent,
                                                                    mailbox::woken_receiver to,
                                                                    bool has_just_sent) noexcept {
  mailbox& b = *how.by.box;
  if (sent == mailbox::send_outcome::given) [[likely]] {
    trace_sent(s, b, to.receiver);
    std::uint64_t const answer = how.more ? send_more(s, b, *how.more) : 1;
    if (may_hand_over(s, has_just_sent)) [[likely]]
      return hand_over(s, to, answer);
    return after_giving(s, to, answer);
  }
  if (sent == mailbox::send_outcome::closed) return go_on(s, how.if_inbox_gone);
  trace_sent(s, b, nullptr);
  return go_on(s, how.more ? send_more(s, b, *how.more) : 1);
}
/// Called when there was no room for the message: sends it if there is room by now; else makes the
/// running process wait for room, or answers `too_late` if the process is not to wait.
template <scheduling_services S>
[[gnu::noinline]] std::coroutine_handle<> wait_for_room(S& s, sending const& how,
                                                        bool has_just_sent) {
  if (!how.waits) return go_on(s, send_waiter::too_late);
  process& p = s.running();
  send_waiter& w = how.by;
  s.on_wait_begin(p);
  w.parked.hold(p);
  enter_group(s, w.parked, waiter::kind::send, &w);
  mailbox::woken_receiver to{};
  mailbox::send_outcome sent{};
  try {
    if (!how.until || set_alarm(s, *how.until))
      sent = w.box->template send_or_wait<S::on_several_threads>(w, to, s.cancellation.refuses());
    else
      sent = w.parked.take() ? mailbox::send_outcome::refused : mailbox::send_outcome::taken;
  } catch (...) {
    // Either set_alarm() has thrown, before another party could take the process; or the storing of
    // the message has, after this thread took the process.
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
  return after_sending(s, how, sent, to, has_just_sent);
}
template <scheduling_services S>
[[gnu::always_inline]] inline std::coroutine_handle<> on_send(S& s, sending const& how) {
  require_own_port(s, *how.by.box);
  S::observer::on_send(s, *how.by.box);
  process& p = s.running();
  if (must_end(s, p)) [[unlikely]]
    return s.refuse(p);
  bool const has_just_sent = p.has_just_sent();
  p.note_sent(true);
  mailbox::woken_receiver to{};
  auto const sent = how.by.box->template send<S::on_several_threads>(how.by.message, false, to);
  if (sent == mailbox::send_outcome::full) [[unlikely]]
    return wait_for_room(s, how, has_just_sent);
  return after_sending(s, how, sent, to, has_just_sent);
}
template <scheduling_services S>
[[gnu::always_inline]] inline std::coroutine_handle<> on(S& s, mail::send const& o) {
  return on_send(s, sending(o));
}
template <scheduling_services S>
std::coroutine_handle<> on(S& s, mail::send_many const& o) {
  return on_send(s, sending(o));
}
template <scheduling_services S>
std::coroutine_handle<> on(S& s, mail::send_until const& o) {
  return on_send(s, sending(o));
}

// ---- sending by id

template <scheduling_services S>
[[nodiscard]] own_route on(S& s, routing::open const&) {
  return {&s.waits.mail(), s.running().id()};
}
/// Looks up the mailbox, unless that was done before.  False if the process `w.to` has no inbox
/// for messages of this type.
template <scheduling_services S>
[[nodiscard]] bool find_route(S& s, routed_send_waiter& w) noexcept {
  if (w.at.get()) return true;
  route_table* const all = s.waits.mail().routes_if_any();
  if (!all) return false;
  w.at = all->find(w.to, w.type);
  w.by.box = w.at.get();
  return w.by.box != nullptr;
}
template <scheduling_services S>
bool attempt(S& s, routing::send const& o, result_slot<bool>& waiting) {
  if (find_route(s, *o.what)) return attempt(s, mail::send(o.what->by), waiting);
  waiting.set(false);
  return true;
}
template <scheduling_services S>
std::coroutine_handle<> on(S& s, routing::send const& o) {
  if (find_route(s, *o.what)) return on(s, mail::send(o.what->by));
  return s.resume(&s.running(), false);
}
template <scheduling_services S>
bool attempt(S& s, routing::send_until const& o, result_slot<std::uint64_t>& waiting) {
  if (find_route(s, *o.what))
    return attempt(s, mail::send_until(o.what->by, o.until, o.waits), waiting);
  waiting.set(send_waiter::inbox_has_gone);
  return true;
}
template <scheduling_services S>
std::coroutine_handle<> on(S& s, routing::send_until const& o) {
  if (find_route(s, *o.what)) return on(s, mail::send_until(o.what->by, o.until, o.waits));
  return s.resume(&s.running(), send_waiter::inbox_has_gone);
}

}  // namespace weft::detail
