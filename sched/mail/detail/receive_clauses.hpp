// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <coroutine>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <type_traits>

#include "weft/effects/handle.hpp"
#include "weft/sched/base/backend.hpp"
#include "weft/sched/base/detail/location_listener.hpp"
#include "weft/sched/base/detail/scheduling_services.hpp"
#include "weft/sched/base/process.hpp"
#include "weft/sched/mail/detail/direct_mail.hpp"
#include "weft/sched/mail/detail/mail_clauses.hpp"
#include "weft/sched/mail/detail/mail_waiters.hpp"
#include "weft/sched/mail/detail/mailbox.hpp"
#include "weft/sched/mail/mail.hpp"

/// The clause of mail::receive.
namespace weft::detail {

/// Receives the messages that have come after the first, while `more` has objects for them.
template <scheduling_services S>
[[gnu::noinline]] void receive_more(S& s, mailbox& b, message_batch& more) noexcept {
  while (more.left != 0) {
    process* admitted = nullptr;
    bool const has_come = b.template receive_over<S::on_several_threads>(more.next, admitted);
    if (admitted) put_admitted(s, admitted, b);
    if (!has_come) break;
    S::observer::on_message(s, trace_kind::receive, s.running(), b);
    more.advance();
  }
  count_batch(s, more);
}
/// Receives a message, if there is one, and returns the answer; an empty optional if the process
/// has to wait.
template <scheduling_services S>
[[gnu::always_inline]] inline std::optional<std::uint64_t> find_message(S& s,
                                                                        mail::receive const& o) {
  receive_waiter& w = *o.waiter;
  if (w.count == 1 && o.waits) [[likely]] {  // the common case of find_message_of_several()
    mailbox& b = *w.first->box;
    require_own_port(s, b);
    S::observer::on_receive(s, b);
    process* admitted = nullptr;
    auto const found = b.template receive<S::on_several_threads>(*w.first, admitted);
    if (admitted) [[unlikely]]
      put_admitted(s, admitted, b);
    if (found == mailbox::receive_outcome::received) {
      S::observer::on_message(s, trace_kind::receive, s.running(), b);
      if (o.more) [[unlikely]]
        receive_more(s, b, *o.more);
      return 1;
    }
    if (found == mailbox::receive_outcome::empty) return {};
    return receive_waiter::no_senders_left;
  }
  return find_message_of_several(s, o);
}
template <scheduling_services S>
[[gnu::noinline]] std::optional<std::uint64_t> find_message_of_several(S& s,
                                                                       mail::receive const& o) {
  receive_waiter& w = *o.waiter;
  bool may_come = false;
  for (unsigned i = 0; i != w.count; ++i) {
    mailbox& b = *w.first[i].box;
    require_own_port(s, b);
    S::observer::on_receive(s, b);
    process* admitted = nullptr;
    auto const found = b.template receive<S::on_several_threads>(w.first[i], admitted);
    if (admitted) [[unlikely]]
      put_admitted(s, admitted, b);
    if (found == mailbox::receive_outcome::received) {
      S::observer::on_message(s, trace_kind::receive, s.running(), b);
      return i + 1;
    }
    may_come |= found == mailbox::receive_outcome::empty;
  }
  if (!may_come) return receive_waiter::no_senders_left;
  if (!o.waits) return receive_waiter::too_late;
  return {};
}
template <scheduling_services S>
[[gnu::always_inline]] inline bool attempt(S& s, mail::receive const& o,
                                           result_slot<std::uint64_t>& waiting) {
  if (!may_go_on(s)) [[unlikely]]
    return false;
  s.running().note_sent(false);
  auto const answer = find_message(s, o);
  if (answer) waiting.set(*answer);
  return answer.has_value();
}
/// Called when a process that was about to wait does not: goes on with that process; or, if another
/// party has taken it and puts it, with the next process.
template <scheduling_services S>
[[gnu::noinline]] std::coroutine_handle<> end_wait(S& s, process& p, mailbox::enter_outcome how,
                                                   std::uint64_t number = 0) {
  if (how == mailbox::enter_outcome::taken || how == mailbox::enter_outcome::occupied) {
    s.on_waiting(p, wait_kind::mail);
    return s.next();
  }
  s.on_wait_cancelled(p);
  if (how == mailbox::enter_outcome::received) return s.resume(&p, number);
  if (how == mailbox::enter_outcome::no_senders && !must_end(s, p))
    return s.resume(&p, receive_waiter::no_senders_left);
  return s.refuse(p);
}
/// Called when enter() has not made the receiver wait at the mailbox of case `i`: `how` says why.
template <scheduling_services S>
[[gnu::noinline]] std::coroutine_handle<> end_entering(S& s, receive_waiter& w, unsigned i,
                                                       mailbox::enter_outcome how,
                                                       process* admitted) {
  process& p = s.running();
  mailbox& b = *w.first[i].box;
  if (admitted) put_admitted(s, admitted, b);
  if (how == mailbox::enter_outcome::received)
    S::observer::on_message(s, trace_kind::receive, p, b);
  if (how == mailbox::enter_outcome::occupied && w.parked.take()) {
    s.on_wait_cancelled(p);
    throw std::logic_error("weft: another process receives from this inbox: one at a time may");
  }
  return end_wait(s, p, how, i + 1);
}
/// Makes the running process wait at several mailboxes, or with a deadline.
template <scheduling_services S>
[[gnu::noinline]] std::coroutine_handle<> wait_for_first(S& s, receive_waiter& w) {
  process& p = s.running();
  try {
    if (w.until && !set_alarm(s, *w.until)) [[unlikely]]
      if (w.parked.take()) return end_wait(s, p, mailbox::enter_outcome::refused);
  } catch (...) {
    if (w.parked.take()) {
      s.on_wait_cancelled(p);
      throw;
    }
    s.on_waiting(p, wait_kind::mail);  // a canceller has taken the process
    return s.next();
  }
  for (unsigned i = 0; i != w.count; ++i) {
    process* admitted = nullptr;
    auto const how = w.first[i].box->template enter<S::on_several_threads>(
        w.first[i], admitted, s.cancellation.refuses());
    if (how != mailbox::enter_outcome::waits) [[unlikely]]
      return end_entering(s, w, i, how, admitted);
  }
  if (w.count > 1) {
    // seq_cst: stored before may_get_more() reads the counts of addresses (MAILBOX-4).
    w.is_everywhere.store(true, std::memory_order_seq_cst);
    if (!w.may_get_more() && w.parked.take())
      return end_wait(s, p, mailbox::enter_outcome::no_senders);
  }
  s.on_waiting(p, wait_kind::mail);
  return s.next();
}
/// Whether a receive that has found no message, directly or by attempt(), waits in the common way:
/// on one thread, at one mailbox, without a deadline, and while no cancellation needs attention.
/// Then wait_in_place() has the effect of on(), and its only calls are tail calls: so its caller
/// saves no registers.
template <scheduling_services S>
[[nodiscard, gnu::always_inline]] inline bool waits_in_place(S& s, process const& p,
                                                             mail::receive const& o) noexcept {
  if constexpr (S::on_several_threads || S::observer::is_there) {
    return false;
  } else {
    receive_waiter const& w = *o.waiter;
    return !s.cancellation.needs_attention() && !p.is_forkable() && o.waits &&
           !s.waits.groups.was_used() && s.here().operations_left != 0 && w.count == 1 &&
           !w.until && w.first->box->may_enter();
  }
}
/// Makes the process `p`, which is suspended, wait at the mailbox.  Requires waits_in_place().
template <scheduling_services S>
[[gnu::always_inline]] inline std::coroutine_handle<> wait_in_place(
    S& s, process& p, mail::receive const& o) noexcept {
  receive_waiter& w = *o.waiter;
  select_case& at = *w.first;
  w.parked.hold(p);
  at.box->link(at);
  p.note_sent(false);
  return s.next();
}
/// Confirms an answer that an attempt has given (log_dispatch.hpp), and notes the evidence for
/// direct_mail.  The answer that no sender is left is not confirmed while a cancellation needs
/// attention: the last sender may have ended by a cancellation that began after the attempt checked
/// for one, and the receiver may be cancelled with that sender.
template <bool Records, scheduling_services S, class O>
[[nodiscard, gnu::always_inline]] inline bool confirm(
    S& s, evidence<mail>& e, O const&, result_slot<typename O::result>& waiting) noexcept {
  if (direct_mail::of_thread.registry == &s.waits.mail())
    direct_mail::of_thread.evidence[Records] = &e;
  if constexpr (std::is_same_v<O, mail::receive>)
    if (*waiting.value() == receive_waiter::no_senders_left && s.cancellation.needs_attention())
        [[unlikely]]
      return false;
  return true;
}
template <scheduling_services S>
std::coroutine_handle<> on(S& s, mail::receive const& o) {
  receive_waiter& w = *o.waiter;
  process& p = s.running();
  bool const needed_attention = s.cancellation.needs_attention();
  if (needed_attention && must_end(s, p)) [[unlikely]]
    return s.refuse(p);
  // The receive was attempted before, unless the process keeps a log, the step had had its share of
  // operations, or a cancellation needed attention.  In the first two cases, and while a
  // cancellation still needs attention, the receive is attempted here; if none does any more,
  // enter() below looks for messages.  A receive that must not wait never gets to enter(), so it is
  // always attempted here.
  bool const was_put_off = S::observer::limits_steps && s.here().operations_left == 0;
  if (p.is_forkable() || needed_attention || !o.waits || was_put_off) [[unlikely]] {
    p.note_sent(false);
    if (auto const answer = find_message(s, o)) {
      // After the check above, a cancellation may have ended the last sender.  If the cancellation
      // includes this process, the process finds `cancelled`, rather than that no sender is left.
      if (*answer == receive_waiter::no_senders_left && must_end(s, p)) return s.refuse(p);
      return go_on(s, *answer);
    }
  }
  s.on_wait_begin(p);
  w.parked.hold(p);
  enter_group(s, w.parked, waiter::kind::receive, &w);
  if (w.count != 1 || w.until) [[unlikely]]
    return wait_for_first(s, w);
  process* admitted = nullptr;
  auto const how = w.first->box->template enter<S::on_several_threads>(*w.first, admitted,
                                                                       s.cancellation.refuses());
  if (how != mailbox::enter_outcome::waits) [[unlikely]]
    return end_entering(s, w, 0, how, admitted);
  s.on_waiting(p, wait_kind::mail);
  return s.next();
}

}  // namespace weft::detail
