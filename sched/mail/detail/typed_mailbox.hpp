// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
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
      // relaxed: there is one thread.
      if (std::size_t const i = e.end.load(std::memory_order_relaxed); i != e.limit) [[likely]] {
        append(e, i, message);
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
    if (!has_several_threads()) [[likely]] {
      message_ends& e = ends();
      // relaxed: there is one thread.
      if (std::size_t const i = e.begin.load(std::memory_order_relaxed); i < e.seen) [[likely]] {
        move_out(*memory::cell(*e.first, i), into);
        e.begin.store(i + 1, std::memory_order_relaxed);  // relaxed: as above
        p->note_sent(false);
        return attempted::done;
      }
    }
    return receive_directly_slow<Waits>(*p, into);
  }
  /// Stores the first messages, as many as there is room for.  Sets `sent` to their number.
  [[nodiscard]] attempted send_many_directly(void const* by, std::span<M> all, std::size_t& sent) {
    direct_mail const& here = direct_mail::of_thread;
    process* const p = here.count(by, registry());
    if (!p) return attempted::not_done;
    sent = has_several_threads() ? store_many<true>(all) : store_many<false>(all);
    if (sent == 0) return hands_over(*p) ? attempted::needs_clause : attempted::not_done;
    p->note_sent(true);
    here.count_more(sent - 1);
    return attempted::done;
  }
  /// Receives the messages that are there, in place of the first objects.  Returns how many.
  [[nodiscard]] std::size_t receive_many_directly(void const* by, std::span<M> into) noexcept {
    direct_mail const& here = direct_mail::of_thread;
    process* const p = here.count(by, registry());
    if (!p || may_have_waiting_senders<false>()) return 0;
    std::size_t received = 0;
    while (received != into.size() && sees_more()) received += fetch_many(into.subspan(received));
    if (received == 0) return 0;
    if (has_several_threads() && may_have_waiting_senders<true>()) [[unlikely]]
      admit_and_put();
    p->note_sent(false);
    here.count_more(received - 1);
    return received;
  }

 private:
  using memory = message_memory<M>;

  [[gnu::noinline]] attempted send_directly_slow(process& p, M& message) {
    bool const is_stored =
        has_several_threads() ? store_if_open<true>(message) : store_if_open<false>(message);
    if (is_stored) return p.note_sent(true), attempted::done;
    return hands_over(p) ? attempted::needs_clause : attempted::not_done;
  }
  /// If senders wait for room, the clause of the operation receives, and puts the sender for whom
  /// there is room then.
  template <bool Waits>
  [[gnu::noinline]] attempted receive_directly_slow(process& p, M& into) noexcept {
    if (!sees_message()) return Waits ? attempted::needs_clause : attempted::not_done;
    if (may_have_waiting_senders<false>()) return attempted::not_done;
    typed_mailbox::fetch(&into);
    if (has_several_threads()) {
      count_received<true>();
      if (may_have_waiting_senders<true>()) [[unlikely]]
        admit_and_put();
    } else {
      count_received<false>();
    }
    p.note_sent(false);
    return attempted::done;
  }
  template <bool Locks>
  [[gnu::always_inline]] bool store_if_open(M& message) {
    guard<Locks> const lock(*this);
    return store_under_lock(message);
  }
  template <bool Locks>
  std::size_t store_many(std::span<M> all) {
    guard<Locks> const lock(*this);
    std::size_t sent = 0;
    try {
      while (sent != all.size() && store_under_lock(all[sent])) ++sent;
    } catch (...) {  // no memory: the messages before are sent
      if (sent == 0) throw;
    }
    return sent;
  }
  [[nodiscard, gnu::always_inline]] bool store_under_lock(M& message) {
    message_ends& e = ends();
    // relaxed: under the lock.
    if (std::size_t const i = e.end.load(std::memory_order_relaxed); i != e.limit) [[likely]] {
      append(e, i, message);
      return true;
    }
    if (!is_open_for_more()) return false;
    store(&message);
    // From now on senders need not look, until there may be no room (MAILBOX-8).
    message_ends& now = ends();
    std::size_t const end = now.end.load(std::memory_order_relaxed);  // relaxed: as above
    now.limit = end - length() + std::min(capacity(), now.last->mask + 1);
    return true;
  }
  /// Adds message `i`, for which there is a cell.
  [[gnu::always_inline]] static void append(message_ends& e, std::size_t i, M& message) noexcept {
    std::construct_at(memory::cell(*e.last, i), std::move(message));
    e.end.store(i + 1, std::memory_order_release);  // [8] release: pairs with [7] of mailbox.hpp
  }
  void store(void* message) override {
    message_ends* e = &ends();
    if (!e->last || length() > e->last->mask) [[unlikely]]
      e = &add_block();
    // relaxed: under the lock.
    append(*e, e->end.load(std::memory_order_relaxed), *static_cast<M*>(message));
    close_limit();
    if (!has_several_threads()) see_until(e->end.load(std::memory_order_relaxed));
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
  void fetch(void* into) noexcept override { move_out(oldest(), *static_cast<M*>(into)); }
  void fetch_over(void* object) noexcept override {
    std::destroy_at(static_cast<M*>(object));
    typed_mailbox::fetch(object);
  }
  /// Receives messages that lie in a row in the first block, and before `seen`.
  [[nodiscard]] std::size_t fetch_many(std::span<M> into) noexcept {
    message_ends& e = ends();
    // relaxed: this thread has written it.
    std::size_t const begin = e.begin.load(std::memory_order_relaxed);
    std::size_t const in_a_row = e.first->mask + 1 - (begin & e.first->mask);
    std::size_t const n = std::min({into.size(), e.seen - begin, in_a_row});
    M* const from = &oldest();
    for (std::size_t i = 0; i != n; ++i) {
      std::destroy_at(&into[i]);
      move_out(from[i], into[i]);
    }
    has_several_threads() ? count_received<true>(n) : count_received<false>(n);
    return n;
  }
  void hand(void* message, void* into) noexcept override {
    std::construct_at(static_cast<M*>(into), std::move(*static_cast<M*>(message)));
  }
  void discard() noexcept override {
    while (sees_message()) {
      std::destroy_at(&oldest());
      count_received<false>();
    }
  }
  /// Moves a message out of its cell, to where there is no object.
  [[gnu::always_inline]] static void move_out(M& m, M& to) noexcept {
    std::construct_at(&to, std::move(m));
    std::destroy_at(&m);
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

[[noreturn, gnu::cold, gnu::noinline]] inline void throw_no_batch() {
  throw std::logic_error("weft: send_many and receive_many need a span of at least one message");
}
template <class M>
[[nodiscard]] message_batch batch_after_first(std::span<M> all) noexcept {
  return {reinterpret_cast<std::byte*>(all.data() + 1), all.size() - 1, sizeof(M)};
}

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
  bool has_come_ = false;  // unused if the destruction of a message has no effect
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
/// Receives as many messages as have come, at least one.
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
