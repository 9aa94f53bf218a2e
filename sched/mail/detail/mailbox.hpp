// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "weft/effects/handle.hpp"
#include "weft/sched/base/detail/location_listener.hpp"
#include "weft/sched/base/detail/relax.hpp"
#include "weft/sched/base/process.hpp"
#include "weft/sched/base/thunk.hpp"
#include "weft/sched/mail/detail/direct_mail.hpp"
#include "weft/sched/mail/detail/mail_waiters.hpp"
#include "weft/sched/mail/detail/mailbox_queue.hpp"
#include "weft/sched/sync/detail/waiter.hpp"

/// The state that the two ends of a port share: the messages, and the processes that wait.
namespace weft::detail {

class mailbox_registry;

/// A mailbox counts its owners: the inbox, and each address.  The template parameter `Locks` says
/// whether the scheduler has several threads.  MAILBOX-8 and MAILBOX-9 are in mailbox_queue.hpp.
///
///   MAILBOX-1  A message is sent under the lock, if the scheduler has several threads, and
///       received without it (message_queue.hpp).  The waiting receiver and the waiting senders are
///       accessed under the lock.
///   MAILBOX-2  A receiver waits only while there is no message; a sender waits only while the
///       mailbox is full, or until a receiver that has made room has seen the sender (MAILBOX-9).
///   MAILBOX-3  A mailbox that was closed gets no message, and no process waits there.
///   MAILBOX-4  No process can send once `addresses_` is zero, unless the inbox makes another
///       address.  The thread that makes it zero then looks for a receiver under the lock.  A
///       receiver reads `addresses_` under the lock before it waits; a receiver at several
///       mailboxes, after it has entered them all.  So the thread finds the receiver, or the
///       receiver finds zero.
///   MAILBOX-5  A waiter that has entered the mailbox is inside it until the thread that takes the
///       waiter's process removes the waiter, or the operation of the waiter ends.  A mailbox that
///       is closed meanwhile lives until no waiter is inside it.
///   MAILBOX-6  A sender that was taken by its alarm has not sent, and stays on the list until its
///       operation ends: a receiver that makes room skips it.
///   MAILBOX-7  Messages that are in the mailbox when its scheduler ends are destroyed.  So an
///       inbox that lies in its own mailbox is freed as well, and so are two inboxes of which each
///       lies in the mailbox of the other.  Both the inbox and the registry may close the mailbox:
///       the first to do so discards the messages.
class mailbox : public mailbox_queue {
 public:
  mailbox(mailbox const&) = delete;
  mailbox& operator=(mailbox const&) = delete;

  void release() noexcept {
    // acq_rel: pairs with itself: the last owner, which deletes the mailbox, sees all accesses of
    // the other owners.
    if (owners_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
  [[nodiscard]] mailbox_registry& registry() const noexcept { return registry_; }

  void add_address() noexcept {
    owners_.fetch_add(1, std::memory_order_relaxed);  // relaxed: the caller is an owner already
    // relaxed: the caller has an address, so the count is not zero; or the caller has the inbox, so
    // no receiver waits meanwhile.
    addresses_.fetch_add(1, std::memory_order_relaxed);
  }
  inline void note_use() const noexcept;
  inline void drop_address() noexcept;
  /// Called when the inbox is destroyed: discards the messages, and wakes all waiting processes.
  void close() noexcept;
  /// Called when the scheduler has ended.  If the mailbox is open and has messages, closes it and
  /// returns true: then the caller must discard the messages, and is an owner until it calls
  /// release().
  [[nodiscard]] bool abandon() noexcept;

  // ---- sending

  enum class send_outcome {
    stored,  // the message is in the mailbox
    given,   // a receiver has the message; the caller must put the receiver
    full,    // there is no room: send() has done nothing; after send_or_wait() the sender waits
    closed,  // nothing is done: the mailbox is closed
    receiver_waits,  // nothing is done: a receiver waits
    refused,         // nothing is done: the mailbox is full, and the sender is cancelled
    taken,           // nothing is done: another party, such as its alarm, has taken the sender
  };
  /// The receiver that has the message, and the answer to resume it with.
  struct woken_receiver {
    process* receiver;
    std::uint64_t answer;
  };
  template <bool Locks>
  [[gnu::always_inline]] send_outcome send(void* message, bool only_if_nobody_waits,
                                           woken_receiver& to) {
    // relaxed: a hint.  If a receiver waits, the sender is suspended, and then looks again under
    // the lock.
    if (only_if_nobody_waits && waiting_case_.load(std::memory_order_relaxed))
      return send_outcome::receiver_waits;
    guard<Locks> const lock(*this);
    return send_under_lock<Locks>(message, to);
  }
  /// Sends as send() does, but if the mailbox is full the process waits there, unless
  /// `is_refused(process const&)`, which is called under the lock, is true (CANCEL-2 of
  /// wait_registry.hpp).  `s` holds its process already, and the alarm of `s`, if any, is set: so
  /// another party may have taken the process by now.  If this throws bad_alloc, nothing is sent.
  template <bool Locks, class IsRefused>
  send_outcome send_or_wait(send_waiter& s, woken_receiver& to, IsRefused const& is_refused) {
    guard<Locks> const lock(*this);
    if (closed_ || waiting_case() || !is_full<Locks>()) {
      if (!take_process<Locks>(s)) return send_outcome::taken;
      return send_under_lock<Locks>(s.message, to);
    }
    if (is_refused(s.parked.waiting_process()))
      return take_process<Locks>(s) ? send_outcome::refused : send_outcome::taken;
    return enter_or_send<Locks>(s, to);
  }

  // ---- receiving

  enum class receive_outcome {
    received,    // a message was received
    no_senders,  // there is no message, and no sender is left
    empty        // there is no message yet
  };
  /// Receives a message, if there is one.  Sets `admitted` to the sender, if any, that has waited
  /// for room and whose message is stored now; the caller puts that sender.
  template <bool Locks>
  [[gnu::always_inline]] receive_outcome receive(select_case& r, process*& admitted) noexcept {
    // The count is read before the look for messages: if no process can send any more, that look
    // finds all messages that there will be.
    bool const is_last = has_no_senders();
    if (!sees_message()) return is_last ? receive_outcome::no_senders : receive_outcome::empty;
    take<Locks>(r);
    if (may_have_waiting_senders<Locks>()) [[unlikely]] {
      guard<Locks> const lock(*this);
      admit<Locks>(admitted);
    }
    return receive_outcome::received;
  }
  /// Receives a message in place of `object`, an object of its type.  False if there is no message.
  /// `admitted`: see receive().
  template <bool Locks>
  [[nodiscard]] bool receive_over(void* object, process*& admitted) noexcept {
    if (!sees_message()) return false;
    fetch_over(object);
    count_received<Locks>();
    if (may_have_waiting_senders<Locks>()) {
      guard<Locks> const lock(*this);
      admit<Locks>(admitted);
    }
    return true;
  }
  enum class enter_outcome { waits, received, no_senders, taken, occupied, refused };
  /// Makes the receiver wait, unless there is a message.  Returns `no_senders` only to a
  /// receiver that is at no other mailbox; `taken` if another party, such as its alarm, has taken
  /// the process, and puts it; `occupied` if another process waits here; `refused` if is_refused()
  /// is true.
  template <bool Locks, class IsRefused>
  [[gnu::always_inline]] enter_outcome enter(select_case& r, process*& admitted,
                                             IsRefused const& is_refused) noexcept {
    guard<Locks> const lock(*this);
    if (waiting_case()) [[unlikely]]
      return enter_outcome::occupied;
    if (sees_message()) {
      if (!take_process<Locks>(r)) return enter_outcome::taken;
      take<Locks>(r);
      if (may_have_waiting_senders<Locks>()) [[unlikely]]
        admit<Locks>(admitted);
      return enter_outcome::received;
    }
    if (r.receiver->count == 1 && has_no_senders())
      return take_process<Locks>(r) ? enter_outcome::no_senders : enter_outcome::taken;
    if (is_refused(r.receiver->parked.waiting_process())) [[unlikely]]
      return take_process<Locks>(r) ? enter_outcome::refused : enter_outcome::taken;
    link(r);
    return enter_outcome::waits;
  }
  /// Whether a receiver that is at no other mailbox, and not cancelled, would wait if it called
  /// enter().  Called if one thread runs all processes.
  [[nodiscard, gnu::always_inline]] bool may_enter() const noexcept {
    message_ends const& e = ends();
    // relaxed, both: there is one thread.
    return !waiting_case() &&
           e.begin.load(std::memory_order_relaxed) == e.end.load(std::memory_order_relaxed) &&
           !has_no_senders();
  }
  /// Makes the receiver, which holds its process, wait here.  Called by enter(), under the lock;
  /// or, with one thread, after may_enter() was true.
  [[gnu::always_inline]] void link(select_case& r) noexcept {
    // relaxed: under the lock, or there is one thread.
    waiting_case_.store(&r, std::memory_order_relaxed);
    close_limit();
    r.is_inside = true;
    ++inside_;
  }
  /// A hint: whether a process waits to which the sender `p` would hand over.
  [[nodiscard]] bool would_hand_over(process const& p) const noexcept {
    return waiting_case() && !p.has_just_sent() && direct_mail::of_thread.is_outside_handlers();
  }
  [[nodiscard]] bool has_no_senders() const noexcept {
    // seq_cst: one order over the counts of all mailboxes and receive_waiter::is_everywhere.  A
    // receiver at several mailboxes sets that flag, then reads the counts; a thread that makes a
    // count zero then reads the flag, then the counts.  Of the receiver and these threads, the last
    // one sees that the receiver waits and no sender is left (MAILBOX-4).
    return addresses_.load(std::memory_order_seq_cst) == 0;
  }
  void leave(select_case& r) noexcept;
  void leave(send_waiter& s) noexcept;
  /// Called by a receiver that has received without the scheduler: stores the messages of waiting
  /// senders while there is room, and puts the senders.
  void admit_and_put() noexcept;

  // ---- for the registry

  /// Takes a process that waits here, and returns it with its answer; an empty thunk if none waits.
  thunk take_anybody() noexcept;
  /// Takes the process of that waiter, for a canceller.  Null if the waiter has not entered, or
  /// another party has taken the process.
  [[nodiscard]] static process* take(mailbox_registry& home, receive_waiter& r) noexcept;
  [[nodiscard]] static process* take(mailbox_registry& home, send_waiter& s) noexcept;
  /// Calls `f(process const&)` for each process that waits here.
  template <class F>
  void for_each_waiter(F const& f) {
    if (has_several_threads()) {
      guard<true> const lock(*this);
      look_at_all(f);
    } else {
      look_at_all(f);
    }
  }

 protected:
  inline mailbox(mailbox_registry& o, std::size_t capacity) noexcept;
  inline ~mailbox() override;

  template <bool Locks>
  class guard {
   public:
    explicit guard(mailbox& b) noexcept : box_(b) {
      if constexpr (Locks)  // [1] acquire: locks; pairs with [2].
        for (relax wait; box_.locked_.exchange(true, std::memory_order_acquire);) wait();
    }
    guard(guard const&) = delete;
    guard& operator=(guard const&) = delete;
    ~guard() {
      // [2] release: unlocks; pairs with [1].
      if constexpr (Locks) box_.locked_.store(false, std::memory_order_release);
    }

   private:
    mailbox& box_;
  };
  /// Whether a send would store its message and do nothing else.  Called under the lock.
  [[nodiscard]] bool is_open_for_more() const noexcept {
    return !closed_ && !waiting_case() && !first_send_waiter() && length() != capacity();
  }
  [[nodiscard]] select_case* waiting_case() const noexcept {
    return waiting_case_.load(std::memory_order_relaxed);  // relaxed: under the lock, or a hint
  }

 private:
  friend class mailbox_registry;

  template <class F>
  void look_at_all(F const& f) {
    if (auto* const r = waiting_case()) r->receiver->parked.look(f);
    for (auto* s = first_send_waiter(); s; s = s->next) s->parked.look(f);
  }

  /// Calls `f<Locks>()`, under the lock if there are several threads.  For slow paths.
  template <class F>
  auto under_lock(F f) noexcept {
    if (!has_several_threads()) return f.template operator()<false>();
    guard<true> const lock(*this);
    return f.template operator()<true>();
  }

  // ---- called under the lock

  template <bool Locks>
  [[gnu::always_inline]] send_outcome send_under_lock(void* message, woken_receiver& to) {
    if (closed_) return send_outcome::closed;
    if (select_case* const r = waiting_case()) {
      if (process* const p = take_receiver<Locks>()) {
        give(message, r->into);
        r->has_come = true;
        to = {p, static_cast<std::uint64_t>(r - r->receiver->first) + 1};
        return send_outcome::given;
      }
    }
    if (is_full<Locks>()) return send_outcome::full;
    store(message);
    return send_outcome::stored;
  }
  /// Enters the sender in the list; if there is room by then, takes it off and sends (MAILBOX-9).
  template <bool Locks>
  send_outcome enter_or_send(send_waiter& s, woken_receiver& to) {
    enter(s);
    if (!Locks || is_full<Locks>(&s)) return send_outcome::full;
    take_off(s);
    if (!take_process<Locks>(s)) return send_outcome::taken;
    return send_under_lock<Locks>(s.message, to);
  }
  /// Moves the oldest message to the receiver, which calls this.
  template <bool Locks>
  [[gnu::always_inline]] void take(select_case& r) noexcept {
    fetch(r.into);
    r.has_come = true;
    count_received<Locks>();
  }
  /// Stores the message of the sender that has waited longest for room, if there is room.  One
  /// sender is enough: each message that is received makes room for one message, and is followed by
  /// a call of admit().
  template <bool Locks>
  [[gnu::noinline]] void admit(process*& admitted) noexcept {
    if (length() == capacity()) return;
    taken_sender const s = take_sender<Locks>();
    if (!s.sender) return;
    store(s.message);  // does not throw: the message that was fetched has left a cell (MESSAGES-2)
    admitted = s.sender;
  }

  /// Takes the process of the receiver.  Null if another party has taken it: possible only if the
  /// receiver is on several lists (of several mailboxes, or of the timers too).
  template <bool Locks>
  [[nodiscard, gnu::always_inline]] static process* take_process(select_case& r) noexcept {
    if (Locks && (r.receiver->until || r.receiver->count != 1)) return r.receiver->parked.take();
    return r.receiver->parked.take_unsynchronized();
  }
  /// Takes the process of the waiting receiver, and removes the receiver.  Null if another party
  /// has taken the process: then the receiver leaves by itself (MAILBOX-5).
  template <bool Locks>
  [[nodiscard, gnu::always_inline]] process* take_receiver() noexcept {
    select_case& r = *waiting_case();
    waiting_case_.store(nullptr, std::memory_order_relaxed);  // relaxed: under the lock
    process* const p = take_process<Locks>(r);
    if (p) r.is_inside = false, --inside_;
    return p;
  }
  /// Takes the process of a sender.  Null if another party has taken the process: possible only if
  /// the sender has a deadline.  A sender without a deadline is on this list only.
  template <bool Locks>
  [[nodiscard]] static process* take_process(send_waiter& s) noexcept {
    return Locks && s.is_timed_ ? s.parked.take() : s.parked.take_unsynchronized();
  }
  /// A sender that was taken off the list, or none.  The caller must put its process.  The
  /// send_waiter and the message lie in the frame of that process, and so live until the put.
  struct taken_sender {
    process* sender;
    void* message;
    std::uint64_t if_closed;  // the sender's answer if the mailbox is closed
  };
  /// Takes the longest waiting sender that no other party has taken (MAILBOX-6).
  template <bool Locks>
  [[nodiscard]] taken_sender take_sender() noexcept {
    for (send_waiter* s = first_send_waiter(); s; s = s->next)
      if (process* const p = take_process<Locks>(*s)) {
        take_off(*s);
        return {p, s->message, s->is_timed_ ? send_waiter::inbox_has_gone : 0};
      }
    return {};
  }
  /// Enters the sender, which holds its process, in the list of waiting senders.
  void enter(send_waiter& s) noexcept {
    s.is_inside = true;
    ++inside_;
    enlist(s);
  }
  void take_off(send_waiter& s) noexcept {
    unlist(s);
    s.is_inside = false;
    --inside_;
  }
  void last_address_has_gone() noexcept;

  bool closed_ = false;       // accessed under the lock, like the next two
  bool is_kept_ = false;      // the mailbox is closed, and the waiters inside count as an owner
  std::uint32_t inside_ = 0;  // how many waiters are inside (MAILBOX-5)
  std::atomic<select_case*> waiting_case_ = nullptr;  // written under the lock
  mailbox_registry& registry_;
  mailbox* next_ = nullptr;  // the next mailbox in the registry's list
  mailbox* previous_ = nullptr;
  std::atomic<std::uint32_t> owners_ = 1;  // 1: the inbox
  std::atomic<std::uint32_t> addresses_ = 0;
  // Padding: each sender writes `locked_`, so its cache line is not that of the members above,
  // which the receiver reads at each message.
  [[maybe_unused]] std::byte apart_[24];
  std::atomic<bool> locked_ = false;  // the lock (MAILBOX-1)
};

}  // namespace weft::detail
