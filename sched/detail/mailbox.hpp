// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "effects/handle.hpp"
#include "sched/detail/correspondents.hpp"
#include "sched/detail/relax.hpp"
#include "sched/detail/waiter.hpp"
#include "sched/process.hpp"
#include "sched/thunk.hpp"

/// What the two ends of a port share: messages, and who waits for one or for room.
namespace weft::detail {

class post_office;

/// Counted: by its inbox, and by each address.  `Locks`: whether its scheduler has several threads.
///
///   P1  Messages, who receives and who waits for room are touched under the lock, if the scheduler
///       has several threads.
///   P2  Who receives waits only while there is no message; who sends waits only while it is full.
///   P3  Once it is closed there is no message, and nobody waits.
///   P4  Nobody sends any more once `addresses_` is zero, unless the inbox makes another.  Who
///       makes it zero looks under the lock whether somebody receives; who receives looks again
///       after it has entered.  So one of them sees the other.
///   P5  Who has entered is inside until it is taken out, or leaves.  A mailbox that is closed
///       meanwhile stays until the last of them has left.
class mailbox : public pooled {
 public:
  mailbox(mailbox const&) = delete;
  mailbox& operator=(mailbox const&) = delete;

  void release() noexcept {
    // acq_rel, with itself: who destroys it has seen the last of the others.
    if (owners_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
  [[nodiscard]] post_office& office() const noexcept { return office_; }

  void add_address() noexcept {
    owners_.fetch_add(1, std::memory_order_relaxed);     // relaxed: the caller's count stays
    addresses_.fetch_add(1, std::memory_order_relaxed);  // relaxed: who makes one has one, or us
  }
  inline void drop_address() noexcept;
  inline void close() noexcept;

  // ---- sending

  enum class sending {
    left,       // a message for later
    given,      // who receives has it, and is the caller's to put
    full,       // nothing is done
    closed,     // the same
    hand_over,  // the same: somebody receives who could be handed over to
  };
  /// `to`: who is given it, and its answer.  Throws bad_alloc, and then nothing is done.
  struct receives {
    process* who;
    std::uint64_t answer;
  };
  template <bool Locks>
  [[gnu::always_inline]] sending send(void* message, bool may_hand_over, receives& to) {
    guard<Locks> const lock(*this);
    return send_under_lock<Locks>(message, may_hand_over, to);
  }
  /// The same; if it is full the process waits there.
  template <bool Locks>
  sending send_or_wait(sender& s, process& p, receives& to) {
    guard<Locks> const lock(*this);
    auto const r = send_under_lock<Locks>(s.message, false, to);
    if (r == sending::full) enter(s, p);
    return r;
  }

  // ---- receiving

  enum class receiving {
    come,     // a message
    nothing,  // and nobody is left who could send one
    none      // yet
  };
  /// `admitted`: who waited for room, and has it now: the caller's to put.
  template <bool Locks>
  [[gnu::always_inline]] receiving receive(receiver_at& r, process*& admitted) noexcept {
    guard<Locks> const lock(*this);
    if (length_ != 0) {
      take<Locks>(r, admitted);
      return receiving::come;
    }
    return nobody_sends() ? receiving::nothing : receiving::none;
  }
  enum class entering { waits, come, nothing, taken, occupied };
  /// Waits there if there is nothing.  `taken`: somebody else has woken it, and puts it.
  template <bool Locks>
  [[gnu::always_inline]] entering enter(receiver_at& r, process*& admitted) noexcept {
    guard<Locks> const lock(*this);
    if (receiver_) [[unlikely]]
      return entering::occupied;
    if (length_ != 0) {
      if (!take<Locks>(r.of->who)) return entering::taken;
      take<Locks>(r, admitted);
      return entering::come;
    }
    if (r.of->count == 1 && nobody_sends())
      return take<Locks>(r.of->who) ? entering::nothing : entering::taken;
    receiver_ = &r;
    r.is_inside = true;
    ++inside_;
    return entering::waits;
  }
  [[nodiscard]] bool nobody_sends() const noexcept {
    // seq_cst: P4; among several mailboxes that are waited at together, one order of all of them.
    return addresses_.load(std::memory_order_seq_cst) == 0;
  }
  inline void leave(receiver_at& r) noexcept;
  inline void leave(sender& s) noexcept;

  // ---- for the office

  /// Somebody who waits here: none if nobody does.
  inline thunk take_anybody() noexcept;
  template <class F>
  void for_each_who_waits(F f) const {
    if (receiver_ && receiver_->of->who.is_here()) f(receiver_->of->who.who());
    for (auto const* s = first_sender_; s; s = s->next)
      if (s->who.is_here()) f(s->who.who());
  }

 protected:
  inline mailbox(post_office& o, std::size_t capacity) noexcept;
  inline virtual ~mailbox();

  // ---- what knows the type

  /// Throws bad_alloc, and then nothing has happened.
  virtual void store(void* message) = 0;
  virtual void fetch(void* into) noexcept = 0;
  virtual void hand(void* message, void* into) noexcept = 0;
  virtual void discard() noexcept = 0;  // all of them

 private:
  friend class post_office;

  template <bool Locks>
  class guard {
   public:
    explicit guard(mailbox& b) noexcept : box_(b) {
      if constexpr (Locks)  // [1] acquire: with [2].
        for (relax wait; box_.locked_.exchange(true, std::memory_order_acquire);) wait();
    }
    guard(guard const&) = delete;
    guard& operator=(guard const&) = delete;
    ~guard() {
      // [2] release: with [1].
      if constexpr (Locks) box_.locked_.store(false, std::memory_order_release);
    }

   private:
    mailbox& box_;
  };
  /// For what is rare.
  template <class F>
  auto under_lock(F f) noexcept {
    if (!has_several_threads_) return f.template operator()<false>();
    guard<true> const lock(*this);
    return f.template operator()<true>();
  }

  // ---- under the lock

  template <bool Locks>
  [[gnu::always_inline]] sending send_under_lock(void* message, bool may_hand_over, receives& to) {
    if (closed_) return sending::closed;
    if (receiver_at* const r = receiver_) {
      if (may_hand_over) return sending::hand_over;
      if (process* const p = take_receiver<Locks>()) {
        hand(message, r->into);
        r->has_come = true;
        to = {p, static_cast<std::uint64_t>(r - r->of->first) + 1};
        return sending::given;
      }
    }
    if (length_ == capacity_) return sending::full;
    store(message);
    ++length_;
    return sending::left;
  }
  /// The next message.  If somebody waits for room, that one's message comes in.
  template <bool Locks>
  [[gnu::always_inline]] void take(receiver_at& r, process*& admitted) noexcept {
    fetch(r.into);
    r.has_come = true;
    --length_;
    if (first_sender_) [[unlikely]]
      admit<Locks>(admitted);
  }
  template <bool Locks>
  [[gnu::noinline]] void admit(process*& admitted) noexcept {
    while (first_sender_) {
      void* const message = first_sender_->message;
      if (process* const p = take_first_sender<Locks>()) {
        store(message);  // where the one was that went
        ++length_;
        admitted = p;
        return;
      }
    }
  }
  template <bool Locks>
  [[nodiscard]] static process* take(waiter& w) noexcept {
    if constexpr (Locks)
      return w.take();
    else
      return w.take_alone();
  }
  /// Waits there no more.  Null if somebody else has taken it: then it leaves by itself (P5).
  template <bool Locks>
  [[nodiscard, gnu::always_inline]] process* take_receiver() noexcept {
    receiver_at& r = *std::exchange(receiver_, nullptr);
    process* const p = take<Locks>(r.of->who);
    if (p) r.is_inside = false, --inside_;
    return p;
  }
  template <bool Locks>
  [[nodiscard]] process* take_first_sender() noexcept {
    sender& s = *first_sender_;
    unlist(s);
    process* const p = take<Locks>(s.who);
    if (p) s.is_inside = false, --inside_;
    return p;
  }
  void enter(sender& s, process& p) noexcept {
    s.who.waits(p);
    s.is_inside = s.is_listed = true;
    ++inside_;
    s.previous = std::exchange(last_sender_, &s);
    s.next = nullptr;
    (s.previous ? s.previous->next : first_sender_) = &s;
  }
  void unlist(sender& s) noexcept {
    (s.previous ? s.previous->next : first_sender_) = s.next;
    (s.next ? s.next->previous : last_sender_) = s.previous;
    s.is_listed = false;
  }
  inline void last_address_has_gone() noexcept;

  post_office& office_;
  bool const has_several_threads_;
  std::atomic<bool> locked_ = false;  // P1
  bool closed_ = false;               // P1, like the next six
  bool is_kept_ = false;              // closed, and the inbox's count is who is inside's
  std::uint32_t inside_ = 0;          // P5
  receiver_at* receiver_ = nullptr;
  std::size_t length_ = 0;
  sender* first_sender_ = nullptr;  // who waits for room, the longest waiting first
  sender* last_sender_ = nullptr;
  std::size_t const capacity_;
  std::atomic<std::uint32_t> owners_ = 1;  // the inbox's
  std::atomic<std::uint32_t> addresses_ = 0;
  mailbox* next_ = nullptr;  // in the office
  mailbox* previous_ = nullptr;
};

}  // namespace weft::detail
