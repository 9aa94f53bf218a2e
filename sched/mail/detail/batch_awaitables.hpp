// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>

#include "weft/sched/mail/detail/direct_mail.hpp"
#include "weft/sched/mail/detail/mail_awaitable.hpp"
#include "weft/sched/mail/detail/mail_waiters.hpp"
#include "weft/sched/mail/detail/receive_awaitables.hpp"
#include "weft/sched/mail/detail/typed_mailbox.hpp"

/// The awaitables that send and receive many messages at a time.
namespace weft::detail {

[[noreturn, gnu::cold, gnu::noinline]] inline void throw_no_batch() {
  throw std::logic_error("weft: send_many and receive_many need a span of at least one message");
}
template <class M>
[[nodiscard]] message_batch batch_after_first(std::span<M> all) noexcept {
  return {reinterpret_cast<std::byte*>(all.data() + 1), all.size() - 1, sizeof(M)};
}

/// Sends as many messages as there is room for.
template <class M>
class send_many_awaitable : public mail_awaitable {
 public:
  using result = std::size_t;
  send_many_awaitable(typed_mailbox<M>& b, std::span<M> all) : to_(b), all_(all) {
    if (all.empty()) throw_no_batch();
  }

  [[nodiscard]] attempted attempt(void const* by) {
    return to_.send_many_directly(by, all_, sent_);
  }
  [[nodiscard]] std::size_t take() const noexcept { return sent_; }

  class performed {
   public:
    explicit performed(send_many_awaitable& s) noexcept
        : sender_(s.to_, s.all_.data()), more_(batch_after_first(s.all_)) {}
    template <class Row, class Mail = mail>
    typename Mail::send_many operation_in() {
      return typename Mail::send_many(sender_, more_);
    }
    [[nodiscard]] std::size_t finish(std::uint64_t sent) const noexcept {
      return static_cast<std::size_t>(sent);
    }

   private:
    send_waiter sender_;
    message_batch more_;
  };

 private:
  typed_mailbox<M>& to_;
  std::span<M> const all_;
  std::size_t sent_ = 0;
};

/// Receives as many messages as have come; if none has, waits for one.
template <class M>
class receive_many_awaitable : public mail_awaitable {
 public:
  using result = std::size_t;
  receive_many_awaitable(typed_mailbox<M>& from, std::span<M> into) : from_(from), into_(into) {
    if (into.empty()) throw_no_batch();
  }

  [[nodiscard]] attempted attempt(void const* by) noexcept {
    received_ = from_.receive_many_directly(by, into_);
    return received_ == 0 ? attempted::not_done : attempted::done;
  }
  [[nodiscard]] std::size_t take() const noexcept { return received_; }

  class performed {
   public:
    explicit performed(receive_many_awaitable& r) noexcept
        : first_(r.from_), into_(r.into_.data()), more_(batch_after_first(r.into_)) {}
    template <class Row, class Mail = mail>
    typename Mail::receive operation_in() {
      auto operation = first_.template operation_in<Row, Mail>();
      operation.more = &more_;
      return operation;
    }
    std::size_t finish(std::uint64_t which) {
      std::optional<M> first = first_.finish(which);
      if (!first) return 0;
      std::destroy_at(into_);
      std::construct_at(into_, std::move(*first));
      return 1 + more_.done;
    }

   private:
    receive_next<M> first_;
    M* into_;
    message_batch more_;
  };

 private:
  typed_mailbox<M>& from_;
  std::span<M> const into_;
  std::size_t received_ = 0;
};

}  // namespace weft::detail
