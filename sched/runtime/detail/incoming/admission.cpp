// SPDX-License-Identifier: MIT
#include "weft/sched/runtime/detail/incoming/admission.hpp"

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <utility>

#include "weft/sched/base/errors.hpp"

namespace weft::detail {

void admission::limit(std::size_t most, overflow_policy when_full) noexcept {
  most_ = most;
  if (most != 0) decided_.emplace();
  waits_when_full_ = when_full == overflow_policy::wait;
}
void admission::begin(std::size_t alive) noexcept {
  if (!is_limited()) return;
  std::lock_guard const lock(mutex_);
  alive_ = alive;
}

admission::ticket* admission::leave() noexcept {
  std::lock_guard const lock(mutex_);
  --alive_;
  return admit();
}
admission::ticket* admission::next() noexcept {
  std::lock_guard const lock(mutex_);
  return admit();
}
admission::ticket* admission::admit() noexcept {
  while (first_ && alive_ < most_) {
    ticket* const t = std::exchange(first_, first_->next);
    if (!first_) last_ = nullptr;
    ++alive_;
    if (t->owner) return t;
    ++admitted_;
    t->decided = ticket::decision::admitted;
    decided_->notify_all();
  }
  return nullptr;
}

// ---- threads outside

void admission::throw_closed() { throw scheduler_stopped(); }
void admission::sleep(std::unique_lock<std::mutex>& lock, bool may_wait) {
  if (!waits_when_full_) throw too_many_processes("submit", most_);
  if (!may_wait)
    throw too_many_processes(
        "submit, by a process of the same scheduler, whose thread would be blocked", most_);
  ticket t;
  append(t);
  decided_->wait(lock, [&t] { return t.decided != ticket::decision::none; });
  if (t.decided == ticket::decision::turned_away) throw scheduler_stopped();
}
void admission::close() noexcept {
  if (!is_limited()) return;
  std::lock_guard const lock(mutex_);
  is_closed_ = true;
  for (ticket** at = &first_; *at;) {
    ticket& t = **at;
    if (t.owner) {
      at = &t.next;
      continue;
    }
    *at = t.next;
    t.decided = ticket::decision::turned_away;
  }
  last_ = nullptr;
  for (ticket* t = first_; t; t = t->next) last_ = t;
  decided_->notify_all();
}
bool admission::is_shut_to_outside() const noexcept {
  if (!is_limited()) return false;
  std::lock_guard const lock(mutex_);
  return alive_ >= most_ && admitted_ == 0;
}

// ---- processes that wait

bool admission::has_waiters() const noexcept {
  if (!is_limited()) return false;
  std::lock_guard const lock(mutex_);
  ticket const* t = first_;
  while (t && !t->owner) t = t->next;
  return t != nullptr;
}

bool admission::try_enter() noexcept {
  std::lock_guard const lock(mutex_);
  return take_room();
}
void admission::enter_anyway() noexcept {
  std::lock_guard const lock(mutex_);
  ++alive_;
}
bool admission::take_room() noexcept {
  if (alive_ >= most_ || first_) return false;
  ++alive_;
  return true;
}
void admission::append(ticket& t) noexcept {
  (last_ ? last_->next : first_) = &t;
  last_ = &t;
}

}  // namespace weft::detail
