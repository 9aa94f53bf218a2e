// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "weft/sched/base/backend.hpp"
#include "weft/sched/mail/detail/direct_mail.hpp"
#include "weft/sched/mail/detail/mail_awaitable.hpp"
#include "weft/sched/mail/detail/mail_waiters.hpp"
#include "weft/sched/mail/detail/typed_mailbox.hpp"
#include "weft/sched/sync/detail/timers.hpp"

/// The awaitables that send to an address.
namespace weft {
template <class M>
struct send_result;
}  // namespace weft

namespace weft::detail {

template <class M>
class send_awaitable : public mail_awaitable {
 public:
  using result = bool;
  send_awaitable(typed_mailbox<M>& b, M&& m) noexcept : to_(b), message_(std::move(m)) {}

  [[nodiscard, gnu::always_inline]] attempted attempt(void const* by) {
    return to_.send_directly(by, message_);
  }
  [[nodiscard]] bool take() const noexcept { return true; }

  class performed {
   public:
    explicit performed(send_awaitable& s) noexcept : sender_(s.to_, &s.message_) {}
    template <class Row, class Mail = mail>
    typename Mail::send operation_in() {
      return typename Mail::send(sender_);
    }
    [[nodiscard]] bool finish(bool was_sent) const noexcept { return was_sent; }

   private:
    send_waiter sender_;
  };

 private:
  typed_mailbox<M>& to_;
  M message_;
};

/// Sends a message; waits for room until a deadline, or does not wait.  A `Sender` knows the
/// mailbox or the process to send to.
template <class M, class Sender>
class timed_message : public mail_awaitable {
 public:
  using result = send_result<M>;
  /// `to`: the arguments of the sender's constructor, without the message.
  template <class... To>
  timed_message(instant t, bool waits, M&& m, To&&... to) noexcept
      : message_(std::move(m)),
        sender_(to..., &message_, true),
        until_(t, waiter_of(sender_)),
        waits_(waits) {}
  template <class Result = send_result<M>>
  Result finish(std::uint64_t how) {
    using what = decltype(Result::what);
    if (how == send_waiter::sent) return {what::sent, std::nullopt};
    return {how == send_waiter::too_late ? what::too_late : what::no_inbox, std::move(message_)};
  }

 protected:
  template <class Operation>
  [[nodiscard]] Operation operation() noexcept {
    return Operation(sender_, until_.at() == instant::max() ? nullptr : &until_, waits_);
  }

 private:
  M message_;
  Sender sender_;
  alarm until_;
  bool const waits_;
};
template <class M>
class send_until_awaitable : public timed_message<M, send_waiter> {
 public:
  send_until_awaitable(instant t, bool waits, mailbox& b, M&& m) noexcept
      : timed_message<M, send_waiter>(t, waits, std::move(m), b) {}
  template <class Row, class Mail = mail>
  typename Mail::send_until operation_in() {
    return this->template operation<typename Mail::send_until>();
  }
};

}  // namespace weft::detail
