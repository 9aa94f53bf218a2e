// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <utility>

#include "weft/sched/base/detail/ready_sink.hpp"
#include "weft/sched/mail/detail/mailbox.hpp"
#include "weft/sched/mail/detail/route_table.hpp"

namespace weft::detail {

/// All mailboxes of a scheduler.  A registry counts its owners: the scheduler, and each mailbox.
///
///   REGISTRY-1  The list of mailboxes is accessed under the lock.  `home_` is the scheduler while
///       it exists, and is set to null under the lock.
///   REGISTRY-2  The registry takes and puts a process under the lock, in one step.  A scheduler
///       that is quiescent first looks for waiting processes, then asks whether a process was put,
///       each time under the same lock.  So it finds the process either waiting or put.
class mailbox_registry : public pooled {
 public:
  mailbox_registry(ready_sink& home, bool several_threads) noexcept
      : home_(&home), has_several_threads_(several_threads) {}
  mailbox_registry(mailbox_registry const&) = delete;
  mailbox_registry& operator=(mailbox_registry const&) = delete;

  ~mailbox_registry() {
    delete routes_.load(std::memory_order_relaxed);  // relaxed: no other owner is left
  }

  [[nodiscard]] bool has_several_threads() const noexcept { return has_several_threads_; }
  void release() noexcept {
    // acq_rel: pairs with itself: the last owner, which deletes the registry, sees all accesses of
    // the other owners.
    if (owners_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  void add(mailbox& b) noexcept {
    owners_.fetch_add(1, std::memory_order_relaxed);  // relaxed: the scheduler is an owner
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
  /// Puts the process that `take()` takes.  Called on any thread: an end of a port may be destroyed
  /// outside the scheduler.  For the scheduler, taking and putting are one step (REGISTRY-2).
  /// Returns whether take() has taken a process.
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
      } catch (...) {  // no memory; on a thread of the scheduler, make_ready() may need none
      }
    }
    home_->make_ready(std::move(t));
    return true;
  }

  // ---- inboxes of processes, by their ids

  /// The table of routes, which the first call makes.  Throws bad_alloc.
  [[nodiscard]] route_table& routes();
  /// The table of routes; null if routes() was not called yet.
  [[nodiscard]] route_table* routes_if_any() const noexcept {
    // [4] acquire: pairs with [3] of mailbox_registry.cpp: the table is constructed.
    return routes_.load(std::memory_order_acquire);
  }

  // ---- for the scheduler

  /// Locks the registry, if there are several threads: until the unlock no mailbox is destroyed.
  [[nodiscard]] std::unique_lock<std::mutex> hold() const noexcept {
    if (has_several_threads_) return std::unique_lock(mutex_);
    return {};
  }

  /// Whether the registry has never had a mailbox or a table of routes.  Called while no process
  /// runs.
  [[nodiscard]] bool is_unused() const noexcept { return !was_used_ && !routes_if_any(); }
  /// Takes all processes that wait, and calls `f(thunk)` for each without the lock.
  template <class F>
  void take_all(F f) {
    std::size_t left = count();
    while (left != 0) {
      thunk t = thunk::reason::quiescent;
      {
        std::lock_guard const lock(mutex_);
        if (!first_) return;
        t = first_->take_anybody();
        if (!t) {  // no process waits there: on to the next mailbox
          mailbox& b = *first_;
          unlink(b);
          append(b);
          --left;
        }
      }
      if (t) f(std::move(t));
    }
  }
  template <class F>
  void for_each_waiter(F const& f) const {
    std::lock_guard const lock(mutex_);
    for (auto* b = first_; b; b = b->next_) b->for_each_waiter(f);
  }
  /// Returns whether put() has put a process since the last call.  Like has_waiters(), called while
  /// no process runs.
  [[nodiscard]] bool exchange_has_put();
  [[nodiscard]] bool has_waiters() const;
  /// Called when the scheduler has ended: no process waits, and none will receive a message.
  /// Destroys all messages, since a message that holds an end of a port may keep alive the mailbox
  /// in which it lies (MAILBOX-7 of mailbox.hpp).  O(n) in the mailboxes and the messages that are
  /// left.
  void close() noexcept;

 private:
  [[nodiscard]] std::size_t count() noexcept;
  void append(mailbox& b) noexcept;
  void unlink(mailbox& b) noexcept;

  mutable std::mutex mutex_;
  ready_sink* home_;       // the scheduler, or null once it has ended (REGISTRY-1)
  bool was_used_ = false;  // written under mutex_; read while no process runs
  bool has_put_ = false;
  mailbox* first_ = nullptr;
  mailbox* last_ = nullptr;
  std::size_t count_ = 0;
  std::atomic<std::size_t> owners_ = 1;
  std::atomic<route_table*> routes_ = nullptr;  // the table is made under mutex_
  bool const has_several_threads_;
};

// ---- members of a mailbox that need the registry

inline mailbox::mailbox(mailbox_registry& o, std::size_t capacity) noexcept
    : mailbox_queue(o.has_several_threads(), capacity), registry_(o) {
  note_created(this);
  o.add(*this);
}
inline mailbox::~mailbox() {
  registry_.remove(*this);
  note_destroyed(this);
}

/// Tells an explorer of an access to the mailbox; and to all mailboxes at which its receiver waits,
/// since a taker takes the receiver from all of them.
inline void mailbox::note_use() const noexcept {
  if (!location_listener::of_thread) [[likely]]
    return;
  note_access(this, true);
  if (select_case const* const r = waiting_case(); r && r->receiver->count != 1)
    for (unsigned i = 0; i != r->receiver->count; ++i) note_access(r->receiver->first[i].box, true);
}
inline void mailbox::drop_address() noexcept {
  note_use();
  // seq_cst: comes before the read of is_everywhere in last_address_has_gone() (MAILBOX-4).
  if (addresses_.fetch_sub(1, std::memory_order_seq_cst) == 1) last_address_has_gone();
  release();
}

/// Whether the receiver has entered all of its mailboxes: before that, one of them may have a
/// message.
inline bool receive_waiter::has_looked_everywhere() const noexcept {
  // seq_cst: the receiver sets the flag, and then reads the counts of addresses; this thread has
  // made a count zero, and then reads the flag.  So either this thread finds the flag set, or the
  // receiver finds zero (MAILBOX-4).
  return count == 1 || is_everywhere.load(std::memory_order_seq_cst);
}
/// Whether one of the mailboxes has an address left.
inline bool receive_waiter::may_get_more() const noexcept {
  for (unsigned i = 0; i != count; ++i)
    if (!first[i].box->has_no_senders()) return true;
  return false;
}
inline void receive_waiter::leave(select_case& r) noexcept { r.box->leave(r); }
inline void send_waiter::leave() noexcept { box->leave(*this); }

}  // namespace weft::detail
