// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "effects/handle.hpp"
#include "sched/base/detail/location_listener.hpp"
#include "sched/base/detail/relax.hpp"
#include "sched/base/process.hpp"
#include "sched/base/thunk.hpp"
#include "sched/mail/detail/mail_waiters.hpp"
#include "sched/sync/detail/waiter.hpp"
#include "sched/sync/detail/wake_batch.hpp"

/// What the two ends of a port share: messages, and who waits for one or for room.
namespace weft::detail {

class mailbox_registry;

/// Counted: by its inbox, and by each address.  `Locks`: whether its scheduler has several threads.
///
///   MAILBOX-1  Messages, who receives and who waits for room are touched under the lock, if the scheduler
///       has several threads.
///   MAILBOX-2  Who receives waits only while there is no message; who sends waits only while it is full.
///   MAILBOX-3  Once it is closed there is no message, and nobody waits.
///   MAILBOX-4  Nobody sends any more once `addresses_` is zero, unless the inbox makes another.  Who
///       makes it zero looks under the lock whether somebody receives; who receives looks again
///       after it has entered.  So one of them sees the other.
///   MAILBOX-5  Who has entered is inside until it is taken out, or leaves.  A mailbox that is closed
///       meanwhile stays until the last of them has left.
///   MAILBOX-6  A sender whose alarm has taken it has not sent, and stays on the list until its operation
///       leaves: a process that makes room passes it over.
///   MAILBOX-7  What is in it when its scheduler ends is destroyed then.  So an inbox that lies in its own
///       mailbox, or two that lie in each other's, are no owners for ever.  Whichever closes it
///       first, the inbox or the office, discards the messages.
class mailbox : public pooled {
 public:
  mailbox(mailbox const&) = delete;
  mailbox& operator=(mailbox const&) = delete;

  void release() noexcept {
    // acq_rel, with itself: who destroys it has seen the last of the others.
    if (owners_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
  [[nodiscard]] mailbox_registry& registry() const noexcept { return registry_; }

  void add_address() noexcept {
    owners_.fetch_add(1, std::memory_order_relaxed);     // relaxed: the caller's count stays
    addresses_.fetch_add(1, std::memory_order_relaxed);  // relaxed: who makes one has one, or us
  }
  inline void note_use() const noexcept;
  inline void drop_address() noexcept;
  inline void close() noexcept;
  [[nodiscard]] inline bool abandon() noexcept;

  // ---- sending

  enum class sending {
    left,       // a message for later
    given,      // who receives has it, and is the caller's to put
    full,       // nothing is done
    closed,     // the same
    hand_over,  // the same: somebody receives who could be handed over to
    refused,    // the same: it is full, and who would wait is not to
    taken,      // the same: its alarm has woken it, and puts it
  };
  /// `to`: who is given it, and its answer.  Throws bad_alloc, and then nothing is done.
  struct receives {
    process* receiver;
    std::uint64_t answer;
  };
  template <bool Locks>
  [[gnu::always_inline]] sending send(void* message, bool may_hand_over, receives& to) {
    // Relaxed: who finds somebody comes again, with the lock.
    if (may_hand_over && receive_waiter_.load(std::memory_order_relaxed)) return sending::hand_over;
    guard<Locks> const lock(*this);
    return send_under_lock<Locks>(message, to);
  }
  /// The same; if it is full the process waits there, unless it `is_refused(process const&)`, which
  /// is asked under the lock (CANCEL-2 of wait_registry.hpp).
  template <bool Locks, class IsRefused>
  sending send_or_wait(send_waiter& s, process& p, receives& to, IsRefused const& is_refused) {
    guard<Locks> const lock(*this);
    auto const r = send_under_lock<Locks>(s.message, to);
    if (r != sending::full) return r;
    if (is_refused(p)) return sending::refused;
    s.parked.hold(p);
    enter(s);
    return r;
  }
  /// The same of one with a deadline, whose alarm is set: it may have been taken already.
  template <bool Locks, class IsRefused>
  sending send_or_wait_in_time(send_waiter& s, receives& to, IsRefused const& is_refused) {
    guard<Locks> const lock(*this);
    bool const may_send = closed_ || waiting_receiver() || length() != capacity_;
    if (may_send) {
      if (!taken<Locks>(s)) return sending::taken;
      return send_under_lock<Locks>(s.message, to);
    }
    if (is_refused(s.parked.waiting_process()))
      return taken<Locks>(s) ? sending::refused : sending::taken;
    enter(s);
    return sending::full;
  }

  // ---- receiving

  enum class receiving {
    come,     // a message
    nothing,  // and nobody is left who could send one
    none      // yet
  };
  /// `admitted`: who waited for room, and has it now: the caller's to put.
  template <bool Locks>
  [[gnu::always_inline]] receiving receive(select_case& r, process*& admitted) noexcept {
    bool const is_last = nobody_sends();  // first: then what was sent before has come
    if (length() == 0) return is_last ? receiving::nothing : receiving::none;
    guard<Locks> const lock(*this);
    if (length() == 0) return receiving::none;  // another process took it: not a port's use
    take<Locks>(r, admitted);
    return receiving::come;
  }
  enum class entering { waits, come, nothing, taken, occupied, refused };
  /// Waits there if there is nothing, unless it is `refused`, as who sends.  `taken`: somebody else
  /// has woken it, and puts it.
  template <bool Locks, class IsRefused>
  [[gnu::always_inline]] entering enter(select_case& r, process*& admitted,
                                        IsRefused const& is_refused) noexcept {
    guard<Locks> const lock(*this);
    if (waiting_receiver()) [[unlikely]]
      return entering::occupied;
    if (length() != 0) {
      if (!taken<Locks>(r)) return entering::taken;
      take<Locks>(r, admitted);
      return entering::come;
    }
    if (r.of->count == 1 && nobody_sends())
      return taken<Locks>(r) ? entering::nothing : entering::taken;
    if (is_refused(r.of->parked.waiting_process())) [[unlikely]]
      return taken<Locks>(r) ? entering::refused : entering::taken;
    receive_waiter_.store(&r, std::memory_order_relaxed);  // relaxed: MAILBOX-1
    r.is_inside = true;
    ++inside_;
    if constexpr (!Locks) r.of->parked.set_wait_place(process::wait_place::receive, r.of);
    return entering::waits;
  }
  [[nodiscard]] bool nobody_sends() const noexcept {
    // seq_cst: MAILBOX-4; among several mailboxes that are waited at together, one order of all of them.
    return addresses_.load(std::memory_order_seq_cst) == 0;
  }
  inline void leave(select_case& r) noexcept;
  inline void leave(send_waiter& s) noexcept;

  // ---- for the office

  /// Somebody who waits here: none if nobody does.
  inline thunk take_anybody() noexcept;
  /// That one, if one thread runs all processes.  Null if somebody else has taken it.
  [[nodiscard]] static process* take(receive_waiter& r) noexcept;
  [[nodiscard]] static process* take(send_waiter& s) noexcept;
  /// Those who are meant; false if there are more than `to` has room for.
  template <class IsMeant>
  [[nodiscard]] bool take_if(IsMeant const& is_meant, wake_batch& to) noexcept;
  template <class F>
  void for_each_waiter(F f) const {
    if (auto const* const r = waiting_receiver(); r && r->of->parked.is_waiting())
      f(r->of->parked.waiting_process());
    for (auto const* s = first_send_waiter_; s; s = s->next)
      if (s->parked.is_waiting()) f(s->parked.waiting_process());
  }

 protected:
  inline mailbox(mailbox_registry& o, std::size_t capacity) noexcept;
  inline virtual ~mailbox();

  // ---- what knows the type

  /// Throws bad_alloc, and then nothing has happened.
  virtual void store(void* message) = 0;
  virtual void fetch(void* into) noexcept = 0;
  virtual void hand(void* message, void* into) noexcept = 0;
  virtual void discard() noexcept = 0;  // all of them

 private:
  friend class mailbox_registry;

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
  [[gnu::always_inline]] sending send_under_lock(void* message, receives& to) {
    if (closed_) return sending::closed;
    if (select_case* const r = waiting_receiver()) {
      if (process* const p = take_receiver<Locks>()) {
        hand(message, r->into);
        r->has_come = true;
        to = {p, static_cast<std::uint64_t>(r - r->of->first) + 1};
        return sending::given;
      }
    }
    if (length() == capacity_) return sending::full;
    store(message);
    length(length() + 1);
    return sending::left;
  }
  /// The next message.  If somebody waits for room, that one's message comes in.
  template <bool Locks>
  [[gnu::always_inline]] void take(select_case& r, process*& admitted) noexcept {
    fetch(r.into);
    r.has_come = true;
    length(length() - 1);
    if (first_send_waiter_) [[unlikely]]
      admit<Locks>(admitted);
  }
  template <bool Locks>
  [[gnu::noinline]] void admit(process*& admitted) noexcept {
    taken_sender const s = take_sender<Locks>();
    if (!s.sender) return;
    store(s.message);  // where the one was that went
    length(length() + 1);
    admitted = s.sender;
  }
  [[nodiscard]] select_case* waiting_receiver() const noexcept {
    return receive_waiter_.load(std::memory_order_relaxed);  // relaxed: MAILBOX-1
  }
  [[nodiscard]] std::size_t length() const noexcept {
    return length_.load(std::memory_order_relaxed);  // relaxed: MAILBOX-1, or see receive()
  }
  void length(std::size_t n) noexcept { length_.store(n, std::memory_order_relaxed); }  // as above

  /// Null if somebody else has taken it: that can be only where it stands on several lists.
  template <bool Locks>
  [[nodiscard, gnu::always_inline]] static process* taken(select_case& r) noexcept {
    if (Locks && (r.of->until || r.of->count != 1)) return r.of->parked.take();
    return r.of->parked.take_unsynchronized();
  }
  /// Waits there no more.  Null if somebody else has taken it: then it leaves by itself (MAILBOX-5).
  template <bool Locks>
  [[nodiscard, gnu::always_inline]] process* take_receiver() noexcept {
    select_case& r = *waiting_receiver();
    receive_waiter_.store(nullptr, std::memory_order_relaxed);  // relaxed: MAILBOX-1
    process* const p = taken<Locks>(r);
    if (p) r.is_inside = false, --inside_;
    return p;
  }
  /// The same; one without a deadline stands on our list only.
  template <bool Locks>
  [[nodiscard]] static process* taken(send_waiter& s) noexcept {
    return Locks && s.is_timed_ ? s.parked.take() : s.parked.take_unsynchronized();
  }
  /// A sender that waits no more; its process is the caller's, and it stays until that is put.
  struct taken_sender {
    process* sender;
    void* message;
    std::uint64_t if_closed;  // its answer then
  };
  /// The one that has waited longest, of those that nobody else has taken (MAILBOX-6).
  template <bool Locks>
  [[nodiscard]] taken_sender take_sender() noexcept {
    for (send_waiter* s = first_send_waiter_; s; s = s->next)
      if (process* const p = taken<Locks>(*s)) {
        unlist(*s);
        s->is_inside = false;
        --inside_;
        return {p, s->message, s->is_timed_ ? send_waiter::inbox_has_gone : 0};
      }
    return {};
  }
  /// It waits already.
  void enter(send_waiter& s) noexcept {
    if (!has_several_threads_) s.parked.set_wait_place(process::wait_place::send, &s);
    s.is_inside = true;
    ++inside_;
    s.previous = std::exchange(last_send_waiter_, &s);
    s.next = nullptr;
    (s.previous ? s.previous->next : first_send_waiter_) = &s;
  }
  void unlist(send_waiter& s) noexcept {
    (s.previous ? s.previous->next : first_send_waiter_) = s.next;
    (s.next ? s.next->previous : last_send_waiter_) = s.previous;
  }
  inline void last_address_has_gone() noexcept;

  mailbox_registry& registry_;
  bool const has_several_threads_;
  std::atomic<bool> locked_ = false;  // MAILBOX-1
  bool closed_ = false;               // MAILBOX-1, like the next six
  bool is_kept_ = false;              // closed, and the inbox's count is who is inside's
  std::uint32_t inside_ = 0;          // MAILBOX-5
  std::atomic<select_case*> receive_waiter_ = nullptr;
  std::atomic<std::size_t> length_ = 0;
  send_waiter* first_send_waiter_ = nullptr;  // who waits for room, the longest waiting first
  send_waiter* last_send_waiter_ = nullptr;
  std::size_t const capacity_;
  std::atomic<std::uint32_t> owners_ = 1;  // the inbox's
  std::atomic<std::uint32_t> addresses_ = 0;
  mailbox* next_ = nullptr;  // in the office
  mailbox* previous_ = nullptr;
};

template <class IsMeant>
bool mailbox::take_if(IsMeant const& is_meant, wake_batch& to) noexcept {
  return under_lock([&]<bool Locks>() {
    if (select_case* const r = waiting_receiver()) {
      if (!to.reserve_one()) return false;
      if (process* const p = r->of->parked.take_if(is_meant)) {
        note_use();
        // Its operation is inside still and leaves by itself (MAILBOX-5): until the process is asleep
        // it may look at this mailbox.
        receive_waiter_.store(nullptr, std::memory_order_relaxed);  // relaxed: MAILBOX-1
        to.add(*p);
      }
    }
    for (send_waiter* s = first_send_waiter_; s;) {
      send_waiter* const next = s->next;
      if (!to.reserve_one()) return false;
      if (process* const p = s->parked.take_if(is_meant)) {
        note_access(this, true);
        unlist(*s);
        s->is_inside = false;
        --inside_;
        to.add(*p);
      }
      s = next;
    }
    return true;
  });
}
inline process* mailbox::take(receive_waiter& r) noexcept {
  process* const p = r.parked.take_unsynchronized();
  if (!p) return nullptr;
  for (unsigned i = 0; i != r.count; ++i) {
    mailbox& b = *r.first[i].box;
    if (b.waiting_receiver() != r.first + i) continue;
    b.note_use();
    b.receive_waiter_.store(nullptr, std::memory_order_relaxed);  // relaxed: MAILBOX-1, as above
  }
  return p;
}
inline process* mailbox::take(send_waiter& s) noexcept {
  process* const p = s.parked.take_unsynchronized();
  if (!p) return nullptr;
  note_access(s.box, true);
  s.box->unlist(s);
  s.is_inside = false;
  --s.box->inside_;
  return p;
}

}  // namespace weft::detail
