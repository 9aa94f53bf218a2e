// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include "weft/sched/base/errors.hpp"
#include "weft/sched/mail/detail/direct_mail.hpp"
#include "weft/sched/mail/detail/mailbox.hpp"
#include "weft/sched/mail/detail/message_queue.hpp"

/// The typed part of a port: its awaitables, and its mailbox.
namespace weft {
struct mail;
template <class M>
class inbox;
template <class M>
struct ports;
template <class M>
struct send_result;
}  // namespace weft

namespace weft::detail {

template <class M>
consteval bool require_message() {
  constexpr bool moves_without_throwing = std::is_object_v<M> && !std::is_const_v<M> &&
                                          std::is_nothrow_move_constructible_v<M> &&
                                          std::is_nothrow_destructible_v<M>;
  static_assert(moves_without_throwing,
                "weft: a message is moved between processes: its type must move, and be destroyed, "
                "without throwing");
  return moves_without_throwing;
}

template <class M>
class typed_mailbox final : public mailbox {
 public:
  typed_mailbox(mailbox_registry& o, std::size_t capacity) noexcept : mailbox(o, capacity) {}

  ~typed_mailbox() override {
    discard();
    message_ends& e = ends();
    if (!e.last) return;
    memory::free(e.last, e);  // empty, so it is the only block
    memory::free(&e);
  }

  /// Stores a message, if the scheduler would do no more for a send that is performed by that
  /// evidence (direct_mail.hpp).  Throws bad_alloc.
  [[nodiscard, gnu::always_inline]] attempted send_directly(void const* by, M& message) {
    process* const p = direct_mail::of_thread.count(by, registry());
    if (!p) [[unlikely]]
      return attempted::not_done;
    if (!has_several_threads()) [[likely]] {
      message_ends& e = ends();
      if (e.end.load(std::memory_order_relaxed) != e.limit) [[likely]] {  // relaxed: one thread
        append(e, message);
        p->note_sent(true);
        return attempted::done;
      }
    }
    return send_directly_slow(*p, message);
  }
  /// The same for a receive.
  template <bool Waits>
  [[nodiscard, gnu::always_inline]] attempted receive_directly(void const* by, M& into) noexcept {
    process* const p = direct_mail::of_thread.count(by, registry());
    if (!p) [[unlikely]]
      return attempted::not_done;
    if (!has_message()) return Waits ? attempted::needs_clause : attempted::not_done;
    if (may_have_waiting_senders<false>()) [[unlikely]]
      return attempted::not_done;
    typed_mailbox::fetch(&into);
    if (has_several_threads()) {
      count_received<true>();
      if (may_have_waiting_senders<true>()) [[unlikely]]
        admit_and_put();
    } else {
      count_received<false>();
    }
    p->note_sent(false);
    return attempted::done;
  }

 private:
  using memory = message_memory<M>;

  [[gnu::noinline]] attempted send_directly_slow(process& p, M& message) {
    bool const is_stored =
        has_several_threads() ? store_if_open<true>(message) : store_if_open<false>(message);
    if (is_stored) return p.note_sent(true), attempted::done;
    return hands_over(p) ? attempted::needs_clause : attempted::not_done;
  }
  template <bool Locks>
  [[gnu::always_inline]] bool store_if_open(M& message) {
    guard<Locks> const lock(*this);
    message_ends& e = ends();
    if (e.end.load(std::memory_order_relaxed) != e.limit) [[likely]] {  // relaxed: under the lock
      append(e, message);
      return true;
    }
    if (!is_open_for_more()) return false;
    store(&message);
    // From now on senders need not look, until there may be no room (MAILBOX-8).
    message_ends& now = ends();
    now.limit = now.end.load(std::memory_order_relaxed) - length() +
                std::min(capacity(), now.last->mask + 1);
    return true;
  }
  /// Adds a message, for which there is a cell.
  [[gnu::always_inline]] static void append(message_ends& e, M& message) noexcept {
    std::size_t const i = e.end.load(std::memory_order_relaxed);  // relaxed: under the lock
    std::construct_at(memory::cell(*e.last, i), std::move(message));
    e.end.store(i + 1, std::memory_order_release);  // [8] release: pairs with [7] of mailbox.hpp
  }
  void store(void* message) override {
    message_ends* e = &ends();
    if (!e->last || length() > e->last->mask) [[unlikely]]
      e = &add_block();
    append(*e, *static_cast<M*>(message));
    // The sender has looked.  So does the next one, unless store_if_open() allows more.
    close_limit();
  }
  [[gnu::noinline]] message_ends& add_block() {
    message_ends& e = ends();
    if (!e.last) {
      auto* const made = memory::make_ends();
      // [6] release: pairs with [5] of mailbox.hpp
      ends_.store(made, std::memory_order_release);
      return *made;
    }
    auto* const made = memory::make_block(2 * (e.last->mask + 1));
    e.last->next = made;
    // relaxed: the message that comes next publishes it, by [8].
    e.last->until.store(e.end.load(std::memory_order_relaxed), std::memory_order_relaxed);
    e.last = made;
    return e;
  }
  void leave_first_block() noexcept override {
    message_ends& e = ends();
    auto* const empty = std::exchange(e.first, e.first->next);
    memory::free(empty, e);
  }
  void fetch(void* into) noexcept override {
    M& m = oldest();
    std::construct_at(static_cast<M*>(into), std::move(m));
    std::destroy_at(&m);
  }
  void hand(void* message, void* into) noexcept override {
    std::construct_at(static_cast<M*>(into), std::move(*static_cast<M*>(message)));
  }
  void discard() noexcept override {
    while (has_message()) {
      std::destroy_at(&oldest());
      count_received<false>();
    }
  }
  [[nodiscard]] M& oldest() const noexcept {
    message_ends& e = ends();
    // relaxed: this thread has written it.
    return *memory::cell(*e.first, e.begin.load(std::memory_order_relaxed));
  }
};

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

/// An awaitable: it stays in the awaiting frame, and holds everything that its operation refers to.
struct mail_awaitable {
  static constexpr bool row_aware_operation = true;
  mail_awaitable() = default;
  mail_awaitable(mail_awaitable const&) = delete;
  mail_awaitable& operator=(mail_awaitable const&) = delete;
};

template <class M>
class open_awaitable : public mail_awaitable {
 public:
  using result = ports<M>;
  explicit open_awaitable(std::size_t capacity) noexcept : capacity_(capacity) {}
  template <class Row, class Mail = mail>
  typename Mail::open operation_in() {
    return typename Mail::open();
  }
  template <class Ports = ports<M>>
  Ports finish(mailbox_registry* o) {
    if constexpr (require_message<M>())
      return Ports(new typed_mailbox<M>(*o, capacity_));
    else
      std::terminate();
  }

 private:
  std::size_t capacity_;
};

template <class M>
class send_awaitable : public mail_awaitable {
 public:
  using result = bool;
  send_awaitable(typed_mailbox<M>& b, M&& m) noexcept : to_(b), message_(std::move(m)) {}

  [[nodiscard, gnu::always_inline]] attempted attempt(void const* by) {
    return to_.send_directly(by, message_);
  }
  [[nodiscard]] bool take() const noexcept { return true; }
  template <class Row, class Mail = mail>
  typename Mail::send operation_in() {
    return typename Mail::send(sender_.emplace(to_, &message_));
  }

 private:
  typed_mailbox<M>& to_;
  M message_;
  std::optional<send_waiter> sender_;
};

/// A message, and how long its sender waits.  `Sender` knows the mailbox or the process to send to.
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
  receive_waiter receive_waiter_;  // declared last: leaves the mailboxes before slots_ is destroyed
};

/// Receives from one inbox; `How` is an awaitable that does it by an operation.
template <class M, class How>
class direct_receive : public mail_awaitable {
 public:
  using result = typename How::result;
  explicit direct_receive(typed_mailbox<M>& from) noexcept : from_(from) {}
  ~direct_receive() {
    if (is_ == state::received) std::destroy_at(&message_);
    if (is_ == state::performed) [[unlikely]]
      std::destroy_at(&how_);
  }

  [[nodiscard, gnu::always_inline]] attempted attempt(void const* by) noexcept {
    attempted const how = from_.template receive_directly<How::waits>(by, message_);
    if (how == attempted::done) is_ = state::received;
    return how;
  }
  [[nodiscard]] result take() noexcept { return std::move(message_); }
  template <class Row, class Mail = mail>
  typename Mail::receive operation_in() {
    std::construct_at(&how_, from_);
    is_ = state::performed;
    return how_.template operation_in<Row, Mail>();
  }
  result finish(std::uint64_t which) { return how_.finish(which); }

 private:
  enum class state : std::uint8_t { made, received, performed };

  typed_mailbox<M>& from_;
  state is_ = state::made;
  union {
    M message_;
    How how_;
  };
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
