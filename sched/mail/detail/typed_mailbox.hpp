// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include "weft/sched/base/process.hpp"
#include "weft/sched/mail/detail/direct_mail.hpp"
#include "weft/sched/mail/detail/mailbox.hpp"
#include "weft/sched/mail/detail/message_queue.hpp"

/// The mailbox of messages of one type, and how its ends send and receive without an operation.
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
    memory::free(e.last, e);  // no message is left, so this is the only block
    memory::free(&e);
  }

  /// Stores a message without an operation, if the scheduler would do no more for a send that is
  /// performed by the evidence `by` (direct_mail.hpp).  Throws bad_alloc.
  [[nodiscard, gnu::always_inline]] attempted send_directly(void const* by, M& message) {
    process* const p = direct_mail::of_thread.process_if_direct(by, registry());
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
  /// Receives a message without an operation, if the scheduler would do no more for a receive that
  /// is performed by the evidence `by` (direct_mail.hpp).
  template <bool Waits>
  [[nodiscard, gnu::always_inline]] attempted receive_directly(void const* by, M& into) noexcept {
    process* const p = direct_mail::of_thread.process_if_direct(by, registry());
    if (!p) [[unlikely]]
      return attempted::not_done;
    if (has_several_threads()) [[unlikely]]
      return receive_directly_slow<Waits>(*p, into);
    message_ends& e = ends();
    // relaxed: there is one thread.
    if (std::size_t const i = e.begin.load(std::memory_order_relaxed); i < e.seen) [[likely]] {
      take_seen(e, i, *p, into);
      return attempted::done;
    }
    return receive_unseen<Waits>(*p, into);
  }
  /// Stores the first messages of `all`, as many as there is room for.  Sets `sent` to their
  /// number.
  [[nodiscard]] attempted send_many_directly(void const* by, std::span<M> all, std::size_t& sent) {
    direct_mail const& here = direct_mail::of_thread;
    process* const p = here.process_if_direct(by, registry());
    if (!p) return attempted::not_done;
    sent = has_several_threads() ? store_many<true>(all) : store_many<false>(all);
    if (sent == 0) return would_hand_over(*p) ? attempted::needs_clause : attempted::not_done;
    p->note_sent(true);
    here.count_more(sent - 1);
    return attempted::done;
  }
  /// Receives messages that are there, in place of the first objects of `into`.  Returns their
  /// number; 0 also if the operation has to be performed (direct_mail.hpp).
  [[nodiscard]] std::size_t receive_many_directly(void const* by, std::span<M> into) noexcept {
    direct_mail const& here = direct_mail::of_thread;
    process* const p = here.process_if_direct(by, registry());
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
    if (has_several_threads()) {
      if (store_if_open<true>(message)) return p.note_sent(true), attempted::done;
      return would_hand_over(p) ? attempted::needs_clause : attempted::not_done;
    }
    if (waiting_case()) return would_hand_over(p) ? attempted::needs_clause : attempted::not_done;
    if (!store_if_open<false>(message)) return attempted::not_done;
    return p.note_sent(true), attempted::done;
  }
  /// Receives message `i`, which is before `seen`.  Called if there is one thread.
  [[gnu::always_inline]] static void take_seen(message_ends& e, std::size_t i, process& p,
                                               M& into) noexcept {
    move_out(*memory::cell(*e.first, i), into);
    e.begin.store(i + 1, std::memory_order_relaxed);  // relaxed: there is one thread
    p.note_sent(false);
  }
  /// Receives the first of the messages that have come since the last look.  Called if there is one
  /// thread.
  template <bool Waits>
  [[gnu::noinline]] attempted receive_unseen(process& p, M& into) noexcept {
    message_ends& e = ends();
    // relaxed: there is one thread.
    std::size_t const i = e.begin.load(std::memory_order_relaxed);
    std::size_t const end = e.end.load(std::memory_order_relaxed);  // relaxed: there is one thread
    if (i == end) return Waits ? attempted::needs_clause : attempted::not_done;
    if (!is_first_block_enough()) [[unlikely]]
      return receive_directly_slow<Waits>(p, into);
    e.seen = end;
    take_seen(e, i, p, into);
    return attempted::done;
  }
  /// Receives a message, unless senders wait for room: then the clause of the operation receives
  /// it, and puts the sender that gets the room.
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
    } catch (...) {  // no memory: the messages before this one are sent
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
    // From now on senders check only the limit, until there may be no room (MAILBOX-8).
    message_ends& now = ends();
    std::size_t const end = now.end.load(std::memory_order_relaxed);  // relaxed: under the lock
    now.limit = end - length() + std::min(capacity(), now.last->mask + 1);
    return true;
  }
  /// Adds message `i`, for which there is a cell.
  [[gnu::always_inline]] static void append(message_ends& e, std::size_t i, M& message) noexcept {
    std::construct_at(memory::cell(*e.last, i), std::move(message));
    // [8] release: pairs with [7] of mailbox_queue.hpp: the receiver sees the message.
    e.end.store(i + 1, std::memory_order_release);
  }
  void store(void* message) override {
    message_ends* e = &ends();
    if (!e->last || length() > e->last->mask) [[unlikely]]
      e = &add_block();
    // relaxed: under the lock.
    append(*e, e->end.load(std::memory_order_relaxed), *static_cast<M*>(message));
    close_limit();
    // relaxed: there is one thread.
    if (!has_several_threads()) see_until(e->end.load(std::memory_order_relaxed));
  }
  [[gnu::noinline]] message_ends& add_block() {
    message_ends& e = ends();
    if (!e.last) {
      auto* const made = memory::make_ends();
      // [6] release: pairs with [5] of mailbox_queue.hpp: the receiver sees the first block.
      ends_.store(made, std::memory_order_release);
      return *made;
    }
    auto* const made = memory::make_block(2 * (e.last->mask + 1));
    e.last->next = made;
    // relaxed: the next message publishes `until`, by [8].
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
  /// Receives messages before `seen` that lie in a row in the first block, in place of the first
  /// objects of `into`.  Returns their number.
  [[nodiscard]] std::size_t fetch_many(std::span<M> into) noexcept {
    message_ends& e = ends();
    // relaxed: only the receiver writes `begin`.
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
  void give(void* message, void* into) noexcept override {
    std::construct_at(static_cast<M*>(into), std::move(*static_cast<M*>(message)));
  }
  void discard() noexcept override {
    while (sees_message()) {
      std::destroy_at(&oldest());
      count_received<false>();
    }
  }
  /// Moves a message out of its cell to `to`, storage without an object.
  [[gnu::always_inline]] static void move_out(M& m, M& to) noexcept {
    std::construct_at(&to, std::move(m));
    std::destroy_at(&m);
  }
  [[nodiscard]] M& oldest() const noexcept {
    message_ends& e = ends();
    // relaxed: only the receiver writes `begin`.
    return *memory::cell(*e.first, e.begin.load(std::memory_order_relaxed));
  }
};

}  // namespace weft::detail
