// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <limits>
#include <utility>

#include "weft/effects/handle.hpp"
#include "weft/sched/mail/detail/mail_waiters.hpp"
#include "weft/sched/mail/detail/message_queue.hpp"

/// The messages of a mailbox, which the receiver accesses without the lock; and the list of senders
/// that wait for room: without the lock, the receiver reads only whether there are any.
namespace weft::detail {

/// The base class of `mailbox`, which adds the lock and the receiver that waits.
///
///   MAILBOX-8  message_ends::limit is beyond `end` only while the mailbox is open, no process
///       waits there, and there is room: so a sender that finds `end` below the limit stores its
///       message and checks nothing else.
///   MAILBOX-9  A receiver counts the message that it has received, then looks for waiting senders;
///       a sender enters their list, then looks for room again.  So either the receiver sees the
///       sender, and stores the sender's message, or the sender sees the room.  A sender that finds
///       room, but other senders waiting, enters behind them: the receiver that has made the room
///       is about to look, and for each message that it has received it stores that of a waiting
///       sender, if there is one.
class mailbox_queue : public pooled {
 public:
  mailbox_queue(mailbox_queue const&) = delete;
  mailbox_queue& operator=(mailbox_queue const&) = delete;

 protected:
  mailbox_queue(bool several_threads, std::size_t capacity) noexcept
      : capacity_(capacity), has_several_threads_(several_threads) {}
  virtual ~mailbox_queue() = default;

  [[nodiscard]] bool has_several_threads() const noexcept { return has_several_threads_; }
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

  // ---- operations that depend on the message's type

  /// Stores a message.  If this throws bad_alloc, nothing has happened.
  virtual void store(void* message) = 0;
  /// Moves out the oldest message; the caller then counts it by count_received().
  virtual void fetch(void* into) noexcept = 0;
  /// Destroys `object`, an object of the message's type, and moves the oldest message to its place;
  /// the caller then counts the message by count_received().
  virtual void fetch_over(void* object) noexcept = 0;
  virtual void give(void* message, void* into) noexcept = 0;
  virtual void discard() noexcept = 0;  // destroys all messages
  /// Called by the receiver: frees the first block, which is empty, and goes on to the next.
  virtual void leave_first_block() noexcept = 0;

  // ---- messages

  [[nodiscard]] message_ends& ends() const noexcept {
    // [5] acquire: pairs with [6] of typed_mailbox.hpp: the receiver sees the first block.
    return *ends_.load(std::memory_order_acquire);
  }
  /// Whether there is a message.  Called by the receiver.
  [[nodiscard, gnu::always_inline]] bool sees_message() noexcept {
    message_ends const& e = ends();
    // relaxed: only the receiver writes `begin`.
    return e.begin.load(std::memory_order_relaxed) < e.seen || sees_more();
  }
  /// Looks for messages that have come since the last look.  Called by the receiver.
  [[nodiscard, gnu::always_inline]] bool sees_more() noexcept {
    message_ends& e = ends();
    // [7] acquire: pairs with [8] of typed_mailbox.hpp: the messages before `end` are constructed.
    std::size_t const end = e.end.load(std::memory_order_acquire);
    // relaxed: only the receiver writes `begin`.
    if (e.begin.load(std::memory_order_relaxed) == end) return false;
    see_until(end);
    return true;
  }
  [[gnu::always_inline]] void see_until(std::size_t end) noexcept {
    message_ends& e = ends();
    if (!is_first_block_enough()) [[unlikely]]
      return see_until_slow(end);
    e.seen = end;
  }
  /// Whether all messages are in the first block, and no sender waits.  Called by the receiver.
  [[nodiscard, gnu::always_inline]] bool is_first_block_enough() const noexcept {
    // relaxed, the first: if a message lies in a later block, [7] in sees_more() has made `until`
    // visible with that message.  The second: waiting senders matter only if there is one thread
    // (MESSAGES-4).
    return ends().first->until.load(std::memory_order_relaxed) == message_block::not_full &&
           !first_send_waiter_.load(std::memory_order_relaxed);
  }
  [[gnu::noinline]] void see_until_slow(std::size_t end) noexcept {
    message_ends& e = ends();
    // relaxed: only the receiver writes `begin`.
    std::size_t const begin = e.begin.load(std::memory_order_relaxed);
    // relaxed: as in is_first_block_enough().
    if (begin == e.first->until.load(std::memory_order_relaxed)) leave_first_block();
    // With one thread, `seen` stays at `begin` while senders wait, so that the receiver looks for
    // them at each message (MESSAGES-4).
    bool const looks_again = !has_several_threads_ && first_send_waiter();
    // relaxed: as in is_first_block_enough().
    std::size_t const until = e.first->until.load(std::memory_order_relaxed);
    e.seen = looks_again ? begin : std::min(end, until);
  }
  /// Counts `n` messages that were received.
  template <bool Locks>
  [[gnu::always_inline]] void count_received(std::size_t n = 1) noexcept {
    auto& begin = ends().begin;
    // relaxed: only the receiver writes `begin`.
    std::size_t const now = begin.load(std::memory_order_relaxed) + n;
    if (Locks && capacity_ != std::numeric_limits<std::size_t>::max()) {
      // seq_cst: a release as [9]; and comes before the look for waiting senders (MAILBOX-9), which
      // wait only if the capacity is limited.
      (void)begin.exchange(now, std::memory_order_seq_cst);
    } else {
      // [9] release: pairs with [10] in length(): a sender sees that the cells are free.
      begin.store(now, std::memory_order_release);
    }
  }
  /// Whether a sender may be waiting for room.  Called by the receiver, also without the lock.
  template <bool Locks>
  [[nodiscard]] bool may_have_waiting_senders() const noexcept {
    // seq_cst: comes after count_received(); pairs with the store in enlist() (MAILBOX-9).
    // relaxed, if `Locks` is false: there is one thread, or the caller needs no more than a hint.
    return first_send_waiter_.load(Locks ? std::memory_order_seq_cst : std::memory_order_relaxed) !=
           nullptr;
  }
  /// How many messages there are.  Called under the lock.
  [[nodiscard]] std::size_t length() const noexcept {
    message_ends const& e = ends();
    // [10] acquire: pairs with [9] in count_received(): the cells before `begin` are free.
    // seq_cst: in mailbox::enter_or_send() this comes after the entry into the list (MAILBOX-9).
    // relaxed: `end` is written under the lock.
    return e.end.load(std::memory_order_relaxed) - e.begin.load(std::memory_order_seq_cst);
  }
  /// Sets the limit to `end`, so that the next sender checks all conditions of MAILBOX-8.  Called
  /// under the lock.
  void close_limit() noexcept {
    message_ends& e = ends();
    std::size_t const end = e.end.load(std::memory_order_relaxed);  // relaxed: under the lock
    if (e.limit != end) e.limit = end;
  }

  // ---- waiting senders, under the lock

  /// Whether a sender must wait: there is no room, or a sender before `s` in the list waits; if `s`
  /// is null, any sender in the list.
  template <bool Locks>
  [[nodiscard]] bool is_full(send_waiter const* s = nullptr) const noexcept {
    if (length() == capacity_) return true;
    if constexpr (Locks)
      for (auto const* other = first_send_waiter(); other != s; other = other->next)
        if (other->parked.is_waiting()) return true;
    return false;
  }
  /// Links a sender at the end of the list.
  void enlist(send_waiter& s) noexcept {
    s.previous = std::exchange(last_send_waiter_, &s);
    s.next = nullptr;
    if (s.previous)
      s.previous->next = &s;
    else  // seq_cst: comes before length() looks for room (MAILBOX-9)
      first_send_waiter_.store(&s, std::memory_order_seq_cst);
    close_limit();
    if (message_ends& e = ends(); !has_several_threads_ && e.last)
      e.seen = e.begin.load(std::memory_order_relaxed);  // relaxed: there is one thread
  }
  void unlist(send_waiter& s) noexcept {
    if (s.previous)
      s.previous->next = s.next;
    else
      first_send_waiter_.store(s.next, std::memory_order_relaxed);  // relaxed: under the lock
    (s.next ? s.next->previous : last_send_waiter_) = s.previous;
  }
  [[nodiscard]] send_waiter* first_send_waiter() const noexcept {
    return first_send_waiter_.load(std::memory_order_relaxed);  // relaxed: under the lock
  }

  std::atomic<message_ends*> ends_ = &message_ends::none;  // set once, under the lock

 private:
  std::atomic<send_waiter*> first_send_waiter_ = nullptr;  // the sender that waits longest
  send_waiter* last_send_waiter_ = nullptr;                // accessed under the lock
  std::size_t const capacity_;
  bool const has_several_threads_;
};

}  // namespace weft::detail
