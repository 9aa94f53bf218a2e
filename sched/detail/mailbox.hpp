// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>

#include "effects/handle.hpp"
#include "sched/detail/relax.hpp"
#include "sched/detail/timers.hpp"
#include "sched/detail/waiter.hpp"
#include "sched/process.hpp"

/// What the two ends of a port share: messages, and who waits for one or for room.
namespace weft::detail {

class mailbox;
class post_office;

/// A process that sends: in its operation.  The message stays there until there is room.
struct sender {
  sender(mailbox& b, void* m) noexcept : box(&b), message(m) {}
  sender(sender const&) = delete;  // the mailbox points to it
  sender& operator=(sender const&) = delete;
  inline ~sender();

  mailbox* box;
  void* message;
  waiter who;
  bool has_entered = false;  // it has to leave; its own process's if there are several threads
  bool is_listed = false;    // as the rest, under the mailbox's lock
  sender* next = nullptr;
  sender* previous = nullptr;
};

class receiver;
/// One of the mailboxes at which a process receives.
struct receiver_at {
  receiver* of = nullptr;
  mailbox* box = nullptr;
  void* into = nullptr;      // where the message goes
  bool has_come = false;     // there it is
  bool has_entered = false;  // as a sender
};

/// A process that receives, at one mailbox or at several: in its operation.
class receiver {
 public:
  /// Answers that are no place's number, which is from 1 on.
  static constexpr std::uint64_t too_late = 0;
  static constexpr std::uint64_t nobody_left = ~std::uint64_t{0};

  receiver(receiver_at* places, unsigned n, instant t) noexcept
      : first(places), count(n), until(t, who) {
    for (unsigned i = 0; i != n; ++i) places[i].of = this;
  }
  receiver(receiver const&) = delete;  // mailboxes point to its places
  receiver& operator=(receiver const&) = delete;
  inline ~receiver();
  [[nodiscard]] inline bool may_get_more() const noexcept;

  receiver_at* first;
  unsigned count;
  waiter who;
  alarm until;
};

/// Counted: by its inbox, by each address, and by who waits there if there are several threads.
///
///   P1  Messages, who receives and who waits for room are touched under the lock, if the scheduler
///       has several threads.
///   P2  Who receives waits only while there is no message; who sends waits only while it is full.
///   P3  Once it is closed there is no message, and nobody waits.
///   P4  Nobody sends any more once `addresses_` is zero, unless the inbox makes another.  Who
///       makes it zero looks under the lock whether somebody receives; who receives looks again
///       after it has entered.  So one of them sees the other.
class mailbox : public pooled {
 public:
  mailbox(mailbox const&) = delete;
  mailbox& operator=(mailbox const&) = delete;

  void keep() noexcept {
    owners_.fetch_add(1, std::memory_order_relaxed);  // relaxed: the caller's count stays
  }
  void release() noexcept {
    // acq_rel, with itself: who destroys it has seen the last of the others.
    if (owners_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
  [[nodiscard]] post_office& office() const noexcept { return office_; }

  void add_address() noexcept {
    keep();
    addresses_.fetch_add(1, std::memory_order_relaxed);  // relaxed: who makes one has one, or us
  }
  inline void drop_address() noexcept;
  inline void close() noexcept;

  // ---- sending

  enum class sending {
    left,     // a message for later
    to_whom,  // who receives has it, and is the caller's to put
    full,
    closed,
    hand_over  // somebody receives who could be handed over to: nothing is done
  };
  /// Throws bad_alloc, and then nothing is done.
  sending send(void* message, bool may_hand_over, thunk& to) {
    auto const locked = lock();
    return send_under_lock(message, may_hand_over, to);
  }
  /// The same; if it is full the process waits there.
  sending send_or_wait(sender& s, thunk& to) {
    auto const locked = lock();
    auto const r = send_under_lock(s.message, false, to);
    if (r == sending::full) enter(s);
    return r;
  }

  // ---- receiving

  enum class receiving {
    come,     // a message
    nothing,  // and nobody is left who could send one
    none      // yet
  };
  /// `admitted`: who waited for room, and has it now: the caller's to put.
  receiving receive(receiver_at& r, thunk& admitted) noexcept {
    auto const locked = lock();
    if (size() != 0) {
      take(r, admitted);
      return receiving::come;
    }
    return nobody_sends() ? receiving::nothing : receiving::none;
  }
  enum class entering { waits, come, nothing, taken, occupied };
  /// Waits there if there is nothing.  `taken`: it has been woken by somebody else, who puts it.
  entering enter(receiver_at& r, thunk& admitted) noexcept {
    auto const locked = lock();
    if (receiver_ && receiver_->of->who.is_here()) return entering::occupied;
    if (size() != 0) {
      if (!taken(r.of->who)) return entering::taken;
      take(r, admitted);
      return entering::come;
    }
    receiver_ = &r;
    r.has_entered = true;
    if (has_several_threads()) keep();
    if (!nobody_sends() || r.of->count != 1) return entering::waits;
    return taken(r.of->who) ? entering::nothing : entering::taken;
  }
  [[nodiscard]] bool nobody_sends() const noexcept {
    // seq_cst: P4; among several mailboxes that are waited at together, one order of all of them.
    return addresses_.load(std::memory_order_seq_cst) == 0;
  }
  /// Goes on, or is unwound.
  inline void leave(receiver_at& r) noexcept;
  inline void leave(sender& s) noexcept;

  // ---- for the office

  /// Somebody who waits here: none if nobody does.
  thunk take_anybody() noexcept {
    auto const locked = lock();
    if (receiver_)
      if (process* const p = take_receiver()) return thunk(p);
    while (first_sender_)
      if (process* const p = take_first_sender()) return thunk(p);
    return thunk::nothing::dry;
  }
  template <class F>
  void for_each_who_waits(F f) const {
    if (receiver_ && receiver_->of->who.is_here()) f(receiver_->of->who.who());
    for (auto const* s = first_sender_; s; s = s->next)
      if (s->who.is_here()) f(s->who.who());
  }

 protected:
  explicit inline mailbox(post_office& o, std::size_t capacity) noexcept;
  virtual inline ~mailbox();

  // ---- what knows the type

  [[nodiscard]] virtual std::size_t size() const noexcept = 0;
  /// Throws bad_alloc, and then nothing has happened.
  virtual void store(void* message) = 0;
  virtual void fetch(void* into) noexcept = 0;
  virtual void hand(void* message, void* into) noexcept = 0;
  virtual void discard() noexcept = 0;  // all of them

 private:
  friend class post_office;

  class lock_guard {
   public:
    explicit lock_guard(std::atomic<bool>* l) noexcept : lock_(l) {
      if (!lock_) return;
      // [1] acquire: with [2].
      for (relax wait; lock_->exchange(true, std::memory_order_acquire);) wait();
    }
    lock_guard(lock_guard const&) = delete;
    lock_guard& operator=(lock_guard const&) = delete;
    ~lock_guard() {
      if (lock_) lock_->store(false, std::memory_order_release);  // [2] release: with [1]
    }

   private:
    std::atomic<bool>* lock_;
  };
  [[nodiscard]] lock_guard lock() noexcept {
    return lock_guard(has_several_threads_ ? &locked_ : nullptr);
  }
  [[nodiscard]] bool has_several_threads() const noexcept { return has_several_threads_; }

  // ---- under the lock

  sending send_under_lock(void* message, bool may_hand_over, thunk& to) {
    if (closed_) return sending::closed;
    if (receiver_ && receiver_->of->who.is_here()) {
      if (may_hand_over) return sending::hand_over;
      receiver_at& r = *receiver_;
      if (process* const p = take_receiver()) {
        hand(message, r.into);
        r.has_come = true;
        to = thunk(p, answer_of(r));
        return sending::to_whom;
      }
    }
    if (size() >= capacity_) return sending::full;
    store(message);
    return sending::left;
  }
  static std::uint64_t answer_of(receiver_at const& r) noexcept {
    return static_cast<std::uint64_t>(&r - r.of->first) + 1;
  }
  /// The next message.  If somebody waits for room, that one's message comes in.
  void take(receiver_at& r, thunk& admitted) noexcept {
    fetch(r.into);
    r.has_come = true;
    while (first_sender_) {
      void* const message = first_sender_->message;
      if (process* const p = take_first_sender()) {
        store(message);  // in the place of the one that went
        admitted = thunk(p, true);
        return;
      }
    }
  }
  /// Waits there no more.  Null if it has been taken.
  [[nodiscard]] process* take_receiver() noexcept {
    receiver_at& r = *std::exchange(receiver_, nullptr);
    r.has_entered &= has_several_threads();
    return taken(r.of->who);
  }
  [[nodiscard]] process* take_first_sender() noexcept {
    sender& s = *first_sender_;
    unlist(s);
    s.has_entered &= has_several_threads();
    return taken(s.who);
  }
  [[nodiscard]] process* taken(waiter& w) const noexcept {
    return has_several_threads() ? w.take() : w.take_alone();
  }
  inline void last_address_has_gone() noexcept;
  void enter(sender& s) noexcept {
    s.has_entered = s.is_listed = true;
    if (has_several_threads()) keep();
    s.previous = std::exchange(last_sender_, &s);
    s.next = nullptr;
    (s.previous ? s.previous->next : first_sender_) = &s;
  }
  void unlist(sender& s) noexcept {
    (s.previous ? s.previous->next : first_sender_) = s.next;
    (s.next ? s.next->previous : last_sender_) = s.previous;
    s.is_listed = false;
  }

  post_office& office_;
  mailbox* next_ = nullptr;  // in the office
  mailbox* previous_ = nullptr;
  std::atomic<std::uint32_t> owners_ = 1;  // the inbox's
  std::atomic<std::uint32_t> addresses_ = 0;
  std::size_t const capacity_;
  receiver_at* receiver_ = nullptr;  // P1
  sender* first_sender_ = nullptr;   // P1: those who wait for room, the longest waiting first
  sender* last_sender_ = nullptr;
  bool const has_several_threads_;
  bool closed_ = false;               // P1
  std::atomic<bool> locked_ = false;  // P1
};

}  // namespace weft::detail
