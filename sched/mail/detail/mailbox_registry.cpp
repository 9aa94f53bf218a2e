// SPDX-License-Identifier: MIT
#include "weft/sched/mail/detail/mailbox_registry.hpp"

#include <atomic>
#include <cstddef>
#include <mutex>
#include <utility>

#include "weft/sched/base/detail/location_listener.hpp"
#include "weft/sched/base/process.hpp"
#include "weft/sched/base/thunk.hpp"
#include "weft/sched/mail/detail/mailbox.hpp"

namespace weft::detail {

route_table& mailbox_registry::routes() {
  std::lock_guard const lock(mutex_);
  // relaxed: written under the lock.
  if (auto* const there = routes_.load(std::memory_order_relaxed)) return *there;
  auto* const made = new route_table();
  // [3] release: publishes the table; pairs with [4] of mailbox_registry.hpp.
  routes_.store(made, std::memory_order_release);
  return *made;
}
bool mailbox_registry::exchange_has_put() {
  if (!was_used_) return false;
  std::lock_guard const lock(mutex_);
  return std::exchange(has_put_, false);
}
bool mailbox_registry::has_waiters() const {
  if (!was_used_) return false;
  bool found = false;
  for_each_waiter([&found](process const&) { found = true; });
  return found;
}
void mailbox_registry::close() noexcept {
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
    abandoned->discard();  // without the lock, which the destructor of a message may take
    abandoned->release();
  }
  {
    std::lock_guard const lock(mutex_);
    home_ = nullptr;
  }
  release();
}
std::size_t mailbox_registry::count() noexcept {
  std::lock_guard const lock(mutex_);
  return count_;
}
void mailbox_registry::append(mailbox& b) noexcept {
  b.next_ = nullptr;
  b.previous_ = std::exchange(last_, &b);
  (b.previous_ ? b.previous_->next_ : first_) = &b;
}
void mailbox_registry::unlink(mailbox& b) noexcept {
  (b.previous_ ? b.previous_->next_ : first_) = b.next_;
  (b.next_ ? b.next_->previous_ : last_) = b.previous_;
}

// ---- members of a mailbox

void mailbox::last_address_has_gone() noexcept {
  registry_.put([this] {
    return under_lock([this]<bool Locks>() -> thunk {
      select_case const* const r = waiting_case();
      // is_waiting() comes first: a receiver that was woken by the end of another of its inboxes
      // may refer to a destroyed mailbox.
      if (r && r->receiver->parked.is_waiting() && r->receiver->has_looked_everywhere() &&
          !r->receiver->may_get_more())
        if (process* const p = take_receiver<Locks>()) {
          p->mark_cancellable();  // the answer may be lost: the next receive finds the same
          return thunk(p, receive_waiter::no_senders_left);
        }
      return thunk::reason::quiescent;
    });
  });
}
void mailbox::admit_and_put() noexcept {
  while (registry_.put([this] {
    return under_lock([this]<bool Locks>() -> thunk {
      process* admitted = nullptr;
      admit<Locks>(admitted);
      if (!admitted) return thunk::reason::quiescent;
      return thunk(admitted, true);
    });
  })) {
  }
}
thunk mailbox::take_anybody() noexcept {
  return under_lock([this]<bool Locks>() -> thunk {
    process* p = nullptr;
    std::uint64_t answer = 0;
    if (waiting_case()) p = take_receiver<Locks>();
    if (!p) {
      taken_sender const s = take_sender<Locks>();
      p = s.sender;
      answer = s.if_closed;
    }
    if (!p) return thunk::reason::quiescent;
    p->mark_cancellable();  // a cancelled process finds `cancelled` instead
    return thunk(p, answer);
  });
}
void mailbox::close() noexcept {
  note_use();
  bool const discards = under_lock([this]<bool Locks>() {
    close_limit();
    // If the mailbox was closed already, the registry discards the messages (MAILBOX-7).
    return !std::exchange(closed_, true);
  });
  while (registry_.put([this] { return take_anybody(); })) {
  }
  if (discards) discard();  // without the lock, which the destructor of a message may take
  bool const is_left = under_lock([this]<bool Locks>() { return !(is_kept_ = inside_ != 0); });
  if (is_left) release();
}
bool mailbox::abandon() noexcept {
  return under_lock([this]<bool Locks>() {
    if (closed_ || length() == 0) return false;
    closed_ = true;
    close_limit();
    owners_.fetch_add(1, std::memory_order_relaxed);  // relaxed: the inbox is still an owner
    return true;
  });
}
void mailbox::leave(select_case& r) noexcept {
  note_access(this, true);
  mailbox_registry& registry = registry_;  // once no waiter is inside, the mailbox may be destroyed
  process* cut_off = nullptr;
  bool const is_last = under_lock([&]<bool Locks>() {
    cut_off = take_process<Locks>(r);
    if (waiting_case() == &r)
      waiting_case_.store(nullptr, std::memory_order_relaxed);  // relaxed: under the lock
    return --inside_ == 0 && is_kept_;
  });
  // If the process still waited, only its frames inside a handler are unwound, the operation among
  // them: the process is put, and finds that the handler has ended.
  if (cut_off) registry.put([cut_off] { return thunk(cut_off); });
  if (is_last) release();
}
void mailbox::leave(send_waiter& s) noexcept {
  note_access(this, true);
  mailbox_registry& registry = registry_;  // once no waiter is inside, the mailbox may be destroyed
  process* cut_off = nullptr;
  bool const is_last = under_lock([&]<bool Locks>() {
    cut_off = take_process<Locks>(s);
    unlist(s);
    return --inside_ == 0 && is_kept_;
  });
  // The process finds that the handler around its operation has ended, as in leave() of a receiver.
  if (cut_off) registry.put([cut_off] { return thunk(cut_off); });
  if (is_last) release();
}
process* mailbox::take(mailbox_registry& home, receive_waiter& r) noexcept {
  auto const held = home.hold();  // keeps the mailboxes: they exist while a receiver waits there
  if (!r.parked.is_waiting()) return nullptr;
  if (r.count != 1 || r.until) {  // other parties may take the process too, so an exchange decides
    process* const p = r.parked.take();
    // The waiter stays inside the mailboxes until its operation ends (MAILBOX-5).
    for (unsigned i = 0; p && i != r.count; ++i) {
      mailbox& b = *r.first[i].box;
      b.under_lock([&]<bool Locks>() {
        if (b.waiting_case() != r.first + i) return;
        b.note_use();
        b.waiting_case_.store(nullptr, std::memory_order_relaxed);  // relaxed: under the lock
      });
    }
    return p;
  }
  mailbox& b = *r.first->box;
  return b.under_lock([&]<bool Locks>() -> process* {
    if (b.waiting_case() != r.first) return nullptr;
    b.note_use();
    b.waiting_case_.store(nullptr, std::memory_order_relaxed);  // relaxed: under the lock
    return r.parked.take_unsynchronized();
  });
}
process* mailbox::take(mailbox_registry& home, send_waiter& s) noexcept {
  auto const held = home.hold();  // keeps the mailbox: it exists while a sender waits there
  if (!s.parked.is_waiting()) return nullptr;
  mailbox& b = *s.box;
  return b.under_lock([&]<bool Locks>() -> process* {
    if (!s.is_inside) return nullptr;
    process* const p = take_process<Locks>(s);
    if (!p) return nullptr;
    note_access(&b, true);
    b.take_off(s);
    return p;
  });
}

}  // namespace weft::detail
