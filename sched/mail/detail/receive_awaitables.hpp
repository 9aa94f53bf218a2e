// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include "weft/sched/base/backend.hpp"
#include "weft/sched/base/errors.hpp"
#include "weft/sched/mail/detail/direct_mail.hpp"
#include "weft/sched/mail/detail/mail_awaitable.hpp"
#include "weft/sched/mail/detail/mail_waiters.hpp"
#include "weft/sched/mail/detail/typed_mailbox.hpp"
#include "weft/sched/sync/detail/timers.hpp"

/// The awaitables that receive from one inbox or from several.
namespace weft::detail {

/// Storage for a message that may come.
template <class M>
union message_slot {
  message_slot() noexcept {}
  ~message_slot() {}
  M message;
};
/// The mailboxes at which a process receives, and storage for their messages.
template <class... Ms>
class message_slots {
 public:
  static constexpr unsigned count = sizeof...(Ms);

  explicit message_slots(typed_mailbox<Ms>&... boxes) noexcept {
    at_each([&, of = std::array<mailbox*, count>{&boxes...}]<std::size_t I>() {
      at[I].box = of[I];
      at[I].into = &message<I>();
    });
  }
  message_slots(message_slots const&) = delete;
  message_slots& operator=(message_slots const&) = delete;
  ~message_slots() {
    at_each([this]<std::size_t I>() {
      if (at[I].has_come) std::destroy_at(&message<I>());
    });
  }

  template <std::size_t I>
  [[nodiscard]] auto& message() noexcept {
    return std::get<I>(slots_).message;
  }
  template <class F>
  static void at_each(F f) {
    [&]<std::size_t... Is>(std::index_sequence<Is...>) {
      (f.template operator()<Is>(), ...);
    }(std::index_sequence_for<Ms...>());
  }

  std::array<select_case, count> at;

 private:
  std::tuple<message_slot<Ms>...> slots_;
};

[[noreturn, gnu::cold, gnu::noinline]] inline void throw_no_senders() { throw no_senders(); }
[[noreturn, gnu::cold, gnu::noinline]] inline void throw_inbox_has_gone() {
  throw std::logic_error("weft: an inbox was destroyed while a process received from it");
}

template <bool Waits, class... Ms>
class receive_awaitable : public mail_awaitable {
 public:
  static constexpr bool waits = Waits;
  explicit receive_awaitable(typed_mailbox<Ms>&... boxes) noexcept
      : slots_(boxes...), receive_waiter_(slots_.at.data(), sizeof...(Ms)) {}
  template <class Row, class Mail = mail>
  typename Mail::receive operation_in() {
    return typename Mail::receive(receive_waiter_, Waits);
  }

 protected:
  [[nodiscard]] receive_waiter& waiting_receiver() noexcept { return receive_waiter_; }
  template <std::size_t I = 0>
  [[nodiscard]] auto& message() noexcept {
    return slots_.template message<I>();
  }

 private:
  message_slots<Ms...> slots_;
  receive_waiter receive_waiter_;  // last: it leaves the mailboxes before slots_ is destroyed
};

/// Receives from one inbox, without an operation if that is possible; else by the awaitable `How`.
template <class M, class How>
class direct_receive : public mail_awaitable {
 public:
  using result = typename How::result;
  explicit direct_receive(typed_mailbox<M>& from) noexcept : from_(from) {
    if constexpr (!std::is_trivially_destructible_v<M>) has_come_ = false;
  }
  ~direct_receive() {
    if constexpr (!std::is_trivially_destructible_v<M>)
      if (has_come_) std::destroy_at(&message_.message);
  }

  [[nodiscard, gnu::always_inline]] attempted attempt(void const* by) noexcept {
    attempted const how = from_.template receive_directly<How::waits>(by, message_.message);
    if constexpr (!std::is_trivially_destructible_v<M>) has_come_ = how == attempted::done;
    return how;
  }
  [[nodiscard]] result take() noexcept { return std::move(message_.message); }

  class performed : public How {
   public:
    explicit performed(direct_receive& r) noexcept : How(r.from_) {}
  };

 private:
  typed_mailbox<M>& from_;
  bool has_come_;  // message_ holds a message; not set if the destruction of an M has no effect
  message_slot<M> message_;
};

template <class M>
class receive_or_throw : public receive_awaitable<true, M> {
 public:
  using result = M;
  using receive_awaitable<true, M>::receive_awaitable;
  M finish(std::uint64_t which) {
    if (which == receive_waiter::no_senders_left) throw_no_senders();
    if (which == receive_waiter::too_late) throw_inbox_has_gone();
    return std::move(this->message());
  }
};
template <class M>
class receive_next : public receive_awaitable<true, M> {
 public:
  using result = std::optional<M>;
  using receive_awaitable<true, M>::receive_awaitable;
  std::optional<M> finish(std::uint64_t which) {
    if (which == receive_waiter::no_senders_left) return {};
    if (which == receive_waiter::too_late) throw_inbox_has_gone();
    return std::move(this->message());
  }
};
/// Adds a deadline to the awaitable `Base`.
template <class Base>
class in_time : public Base {
 public:
  template <class... Boxes>
  explicit in_time(instant t, Boxes&... boxes) noexcept
      : Base(boxes...), until_(t, this->waiting_receiver().parked) {
    if (t != instant::max()) this->waiting_receiver().until = &until_;
  }

 private:
  alarm until_;
};

template <class M>
class receive_until_awaitable : public in_time<receive_awaitable<true, M>> {
 public:
  using result = std::optional<M>;
  using in_time<receive_awaitable<true, M>>::in_time;
  std::optional<M> finish(std::uint64_t which) {
    if (which == receive_waiter::no_senders_left) throw_no_senders();
    if (which == receive_waiter::too_late) return {};
    return std::move(this->message());
  }
};
template <class M>
class receive_now : public receive_awaitable<false, M> {
 public:
  using result = std::optional<M>;
  using receive_awaitable<false, M>::receive_awaitable;
  std::optional<M> finish(std::uint64_t which) {
    if (which == receive_waiter::no_senders_left || which == receive_waiter::too_late) return {};
    return std::move(this->message());
  }
};

/// Receives from several inboxes.
template <class Base, class... Ms>
class select_from : public Base {
 public:
  using Base::Base;

 protected:
  [[nodiscard]] std::optional<std::variant<Ms...>> whichever(std::uint64_t which) {
    if (which == receive_waiter::no_senders_left) throw_no_senders();
    std::optional<std::variant<Ms...>> m;
    message_slots<Ms...>::at_each([&]<std::size_t I>() {
      if (which == I + 1) m.emplace(std::in_place_index<I>, std::move(this->template message<I>()));
    });
    return m;
  }
};
template <class... Ms>
class select_awaitable : public select_from<receive_awaitable<true, Ms...>, Ms...> {
 public:
  using result = std::variant<Ms...>;
  using select_from<receive_awaitable<true, Ms...>, Ms...>::select_from;
  std::variant<Ms...> finish(std::uint64_t which) {
    auto m = this->whichever(which);
    if (!m) throw_inbox_has_gone();
    return std::move(*m);
  }
};
template <class... Ms>
class select_until_awaitable : public select_from<in_time<receive_awaitable<true, Ms...>>, Ms...> {
 public:
  using result = std::optional<std::variant<Ms...>>;
  using select_from<in_time<receive_awaitable<true, Ms...>>, Ms...>::select_from;
  std::optional<std::variant<Ms...>> finish(std::uint64_t which) { return this->whichever(which); }
};

}  // namespace weft::detail
