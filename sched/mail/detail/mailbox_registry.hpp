// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <utility>

#include "sched/base/detail/ready_sink.hpp"
#include "sched/mail/detail/mailbox.hpp"
#include "sched/mail/detail/route_table.hpp"
#include "sched/sync/detail/wake_batch.hpp"

namespace weft::detail {

/// The mailboxes of a scheduler.  Outlives it if they do: counted, by it and by them.
///
///   REGISTRY-1  The list, and whether the scheduler is still there, are touched under the lock.
///   REGISTRY-2  Who is woken from here was waiting or is put, as seen by the scheduler when it finds
///       nothing to do: it asks who waits, then whether somebody was put, under the same lock.
class mailbox_registry : public pooled {
 public:
  mailbox_registry(ready_sink& home, bool several_threads) noexcept
      : home_(&home), has_several_threads_(several_threads) {}
  mailbox_registry(mailbox_registry const&) = delete;
  mailbox_registry& operator=(mailbox_registry const&) = delete;

  ~mailbox_registry() {
    delete routes_.load(std::memory_order_relaxed);  // relaxed: nobody else is left
  }

  [[nodiscard]] bool has_several_threads() const noexcept { return has_several_threads_; }
  void release() noexcept {
    // acq_rel, with itself: who destroys it has seen the last of the others.
    if (owners_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  void add(mailbox& b) noexcept {
    owners_.fetch_add(1, std::memory_order_relaxed);  // relaxed: the scheduler's stays
    std::lock_guard const lock(mutex_);
    append(b);
    ++count_;
    was_used_ = true;
  }
  void remove(mailbox& b) noexcept {
    {
      std::lock_guard const lock(mutex_);
      unlink(b);
      --count_;
    }
    release();
  }
  /// Somebody whom `take()` gives is woken by the end of something, which may be on any thread: to
  /// the scheduler both are one step (REGISTRY-2).  Whether there was somebody.
  template <class Take>
  bool put(Take take) noexcept {
    thunk t = thunk::reason::quiescent;
    {
      std::lock_guard const lock(mutex_);
      t = take();
      if (!t) return false;
      has_put_ = true;
      try {
        home_->put_from_outside(t);
        return true;
      } catch (...) {  // no memory: then let us hope that it is a thread of ours
      }
    }
    home_->make_ready(std::move(t));
    return true;
  }

  // ---- who is sent to by his id

  /// Made by who asks first.  Throws bad_alloc.
  [[nodiscard]] route_table& routes() {
    std::lock_guard const lock(mutex_);
    // Relaxed: under the lock.
    if (auto* const there = routes_.load(std::memory_order_relaxed)) return *there;
    auto* const made = new route_table();
    routes_.store(made, std::memory_order_release);  // [3] release: with [4]
    return *made;
  }
  /// Null if nobody has asked.
  [[nodiscard]] route_table* routes_if_any() const noexcept {
    return routes_.load(std::memory_order_acquire);  // [4] acquire: with [3]
  }

  // ---- the scheduler's

  /// `f(thunk)`, without the lock, for all who wait.
  template <class F>
  void take_all(F f) {
    std::size_t left = count();
    while (left != 0) {
      thunk t = thunk::reason::quiescent;
      {
        std::lock_guard const lock(mutex_);
        if (!first_) return;
        t = first_->take_anybody();
        if (!t) {  // the next one
          mailbox& b = *first_;
          unlink(b);
          append(b);
          --left;
        }
      }
      if (t) f(std::move(t));
    }
  }
  /// Those who are meant; false if there are more than `to` has room for.
  template <class IsMeant>
  [[nodiscard]] bool take_if(IsMeant const& is_meant, wake_batch& to) noexcept {
    std::lock_guard const lock(mutex_);
    for (mailbox* b = first_; b; b = b->next_)
      if (!b->take_if(is_meant, to)) return false;
    return true;
  }
  template <class F>
  void for_each_waiter(F f) {
    std::lock_guard const lock(mutex_);
    for (auto const* b = first_; b; b = b->next_) b->for_each_waiter(f);
  }
  /// Since it was asked last.  When no process runs, as the next one.
  [[nodiscard]] bool exchange_has_put() {
    if (!was_used_) return false;
    std::lock_guard const lock(mutex_);
    return std::exchange(has_put_, false);
  }
  [[nodiscard]] bool has_waiters() {
    if (!was_used_) return false;
    bool found = false;
    for_each_waiter([&found](process const&) { found = true; });
    return found;
  }
  /// The scheduler is over: nobody waits, and no message will be received.  So messages go: those
  /// that hold ends of ports may keep the mailboxes in which they lie (MAILBOX-7 of mailbox.hpp).
  /// O(mailboxes and messages that are left).
  void close() noexcept {
    for (std::size_t left = count(); left != 0; --left) {
      mailbox* abandoned = nullptr;
      {
        std::lock_guard const lock(mutex_);
        if (!first_) break;
        mailbox& b = *first_;
        unlink(b);
        append(b);
        if (b.abandon()) abandoned = &b;
      }
      if (!abandoned) continue;
      abandoned->discard();  // without the lock, as messages may hold ends of ports
      abandoned->release();
    }
    {
      std::lock_guard const lock(mutex_);
      home_ = nullptr;
    }
    release();
  }

 private:
  [[nodiscard]] std::size_t count() noexcept {
    std::lock_guard const lock(mutex_);
    return count_;
  }
  void append(mailbox& b) noexcept {
    b.next_ = nullptr;
    b.previous_ = std::exchange(last_, &b);
    (b.previous_ ? b.previous_->next_ : first_) = &b;
  }
  void unlink(mailbox& b) noexcept {
    (b.previous_ ? b.previous_->next_ : first_) = b.next_;
    (b.next_ ? b.next_->previous_ : last_) = b.previous_;
  }

  std::mutex mutex_;
  ready_sink* home_;       // REGISTRY-1
  bool was_used_ = false;  // under mutex_, while processes run
  bool has_put_ = false;
  mailbox* first_ = nullptr;
  mailbox* last_ = nullptr;
  std::size_t count_ = 0;
  std::atomic<std::size_t> owners_ = 1;
  std::atomic<route_table*> routes_ = nullptr;  // made under mutex_
  bool const has_several_threads_;
};

// ---- what a mailbox needs the office for

inline mailbox::mailbox(mailbox_registry& o, std::size_t capacity) noexcept
    : registry_(o), has_several_threads_(o.has_several_threads()), capacity_(capacity) {
  note_created(this);
  o.add(*this);
}
inline mailbox::~mailbox() {
  registry_.remove(*this);
  note_destroyed(this);
}

/// For who explores.  Who receives from several is taken from all of them.
inline void mailbox::note_use() const noexcept {
  if (!location_listener::of_thread) [[likely]]
    return;
  note_access(this, true);
  if (select_case const* const r = waiting_receiver(); r && r->of->count != 1)
    for (unsigned i = 0; i != r->of->count; ++i) note_access(r->of->first[i].box, true);
}
inline void mailbox::drop_address() noexcept {
  note_use();
  // seq_cst: as nobody_sends().
  if (addresses_.fetch_sub(1, std::memory_order_seq_cst) == 1) last_address_has_gone();
  release();
}
inline void mailbox::last_address_has_gone() noexcept {
  registry_.put([this] {
    return under_lock([this]<bool Locks>() -> thunk {
      select_case const* const r = waiting_receiver();
      // One that has been woken may be so by the end of another of its inboxes, which is no more.
      if (r && r->of->parked.is_waiting() && r->of->has_looked_everywhere() &&
          !r->of->may_get_more())
        if (process* const p = take_receiver<Locks>()) {
          p->mark_cancellable();  // it finds the same if it looks again
          return thunk(p, receive_waiter::nobody_left);
        }
      return thunk::reason::quiescent;
    });
  });
}
inline thunk mailbox::take_anybody() noexcept {
  return under_lock([this]<bool Locks>() -> thunk {
    process* p = nullptr;
    std::uint64_t answer = 0;
    if (waiting_receiver()) p = take_receiver<Locks>();
    if (!p) {
      taken_sender const s = take_sender<Locks>();
      p = s.sender;
      answer = s.if_closed;
    }
    if (!p) return thunk::reason::quiescent;
    p->mark_cancellable();  // as above
    return thunk(p, answer);
  });
}
/// The inbox has gone.
inline void mailbox::close() noexcept {
  note_use();
  bool const discards = under_lock([this]<bool Locks>() {
    length(0);
    return !std::exchange(closed_, true);  // else the office does (MAILBOX-7)
  });
  while (registry_.put([this] { return take_anybody(); })) {
  }
  if (discards) discard();  // without the lock, as messages may hold ends of ports
  bool const is_left = under_lock([this]<bool Locks>() { return !(is_kept_ = inside_ != 0); });
  if (is_left) release();
}
/// Its scheduler is over.  Whether there are messages; then they are the caller's to discard, and
/// so is one count.
inline bool mailbox::abandon() noexcept {
  return under_lock([this]<bool Locks>() {
    if (closed_ || length() == 0) return false;
    closed_ = true;
    length(0);
    owners_.fetch_add(1, std::memory_order_relaxed);  // relaxed: the inbox's stays (MAILBOX-3)
    return true;
  });
}
inline void mailbox::leave(select_case& r) noexcept {
  note_access(this, true);
  mailbox_registry& registry = registry_;  // we may be no more after that
  process* cut_off = nullptr;
  bool const is_last = under_lock([&]<bool Locks>() {
    cut_off = taken<Locks>(r);
    if (waiting_receiver() == &r)
      receive_waiter_.store(nullptr, std::memory_order_relaxed);  // relaxed: MAILBOX-1
    return --inside_ == 0 && is_kept_;
  });
  // Unwound with the handler round it: it is to find that out.
  if (cut_off) registry.put([cut_off] { return thunk(cut_off); });
  if (is_last) release();
}
inline void mailbox::leave(send_waiter& s) noexcept {
  note_access(this, true);
  mailbox_registry& registry = registry_;  // we may be no more after that
  process* cut_off = nullptr;
  bool const is_last = under_lock([&]<bool Locks>() {
    cut_off = taken<Locks>(s);
    unlist(s);
    return --inside_ == 0 && is_kept_;
  });
  if (cut_off) registry.put([cut_off] { return thunk(cut_off); });  // as above
  if (is_last) release();
}

/// Whether it waits at all of its mailboxes: before, there may be a message at one of them.
inline bool receive_waiter::has_looked_everywhere() const noexcept {
  // seq_cst: MAILBOX-4.  Either this is true, or the receiver, which looks after it has said so, finds
  // that nobody is left.
  return count == 1 || is_everywhere.load(std::memory_order_seq_cst);
}
/// Whether one of the mailboxes has an address left.
inline bool receive_waiter::may_get_more() const noexcept {
  for (unsigned i = 0; i != count; ++i)
    if (!first[i].box->nobody_sends()) return true;
  return false;
}
inline void receive_waiter::leave(select_case& r) noexcept { r.box->leave(r); }
inline void send_waiter::leave() noexcept { box->leave(*this); }

}  // namespace weft::detail
