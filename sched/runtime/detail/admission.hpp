// SPDX-License-Identifier: MIT
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>

#include "effects/handle.hpp"
#include "sched/base/backend.hpp"
#include "sched/base/errors.hpp"
#include "sched/base/process.hpp"

namespace weft::detail {

/// How many processes there may be; and who waits to start one more.
///
///   ADMIT-1  `alive_` counts those that were let in and have not ended: at most `most_`.  Whoever ends
///       lets in who waits longest, processes and threads outside alike; a newcomer comes in only
///       where there is room, so where nobody waits.
///   ADMIT-2  A process waits with the one that it has made and that is not begun.
///   ADMIT-3  A thread that was let in while it slept counts in `let_in_` until its process is put,
///   which
///       is one step with that, under the lock, as seen by who asks nobody_can_come().
///
/// Thread safe.  If there is no limit, nothing but is_limited() is asked.
class admission {
 public:
  /// Somebody who waits.
  struct in_line : pooled {
    in_line() = default;  // a thread outside
    explicit in_line(process& p) noexcept : who(&p) {}
    in_line* next = nullptr;
    process* who = nullptr;  // and its count; it goes on with that answer
    std::uint64_t answer = 0;
    process* spawned = nullptr;  // ADMIT-2
    bool goes_first = false;     // who waited, not the one that is new
    enum class told : std::uint8_t { nothing, come_in, go_away } said = told::nothing;
  };

  /// Before anything runs.
  void limit(std::size_t most, overflow_policy when_full) noexcept {
    most_ = most;
    if (most != 0) told_.emplace();
    waits_ = when_full == overflow_policy::wait;
  }
  [[nodiscard]] bool is_limited() const noexcept { return most_ != 0; }
  [[nodiscard]] std::size_t most() const noexcept { return most_; }
  /// Who finds no room waits.
  [[nodiscard]] bool waits() const noexcept { return waits_; }
  /// So many are alive.
  void begin(std::size_t alive) noexcept {
    if (!is_limited()) return;
    std::lock_guard const lock(mutex_);
    alive_ = alive;
  }

  /// Whether there is room for one more, and now it is taken.
  [[nodiscard]] bool try_enter() noexcept {
    std::lock_guard const lock(mutex_);
    return has_entered();
  }
  /// There is one more, whether there is room or not.
  void enter_anyway() noexcept {
    std::lock_guard const lock(mutex_);
    ++alive_;
  }
  enum class entering : std::uint8_t { in, waits, refused };
  /// If there is none that process waits, unless it `is_refused(process const&)`, which is asked
  /// under the lock (CANCEL-2 of wake_if.hpp).
  template <class IsRefused>
  [[nodiscard]] entering enter_or_wait(in_line& l, IsRefused const& is_refused) noexcept {
    std::lock_guard const lock(mutex_);
    if (has_entered()) return entering::in;
    if (is_refused(static_cast<process const&>(*l.who))) return entering::refused;
    append(l);
    return entering::waits;
  }
  /// One has ended.  Who comes in for it: to be begun, and then next() is asked.  Null if that is
  /// nobody.
  [[nodiscard]] in_line* leave() noexcept {
    std::lock_guard const lock(mutex_);
    --alive_;
    return let_in();
  }
  [[nodiscard]] in_line* next() noexcept {
    std::lock_guard const lock(mutex_);
    return let_in();
  }

  // ---- threads outside

  /// Waits for room, if it may, and does `put()`.  Throws too_many_processes, scheduler_stopped,
  /// and what put() does.
  template <class Put>
  void enter_from_outside(bool may_wait, Put put) {
    std::unique_lock lock(mutex_);
    if (is_closed_) throw scheduler_stopped();
    bool const has_slept = !has_entered();
    if (has_slept) {
      if (!waits_) throw too_many_processes("submit", most_);
      if (!may_wait)
        throw too_many_processes(
            "submit, by a process of the same scheduler, whose thread would stand still", most_);
      in_line l;
      append(l);
      told_->wait(lock, [&l] { return l.said != in_line::told::nothing; });
      if (l.said == in_line::told::go_away) throw scheduler_stopped();
    }
    // ADMIT-3.
    try {
      put();
    } catch (...) {
      --alive_;  // who ends next, or finds that nobody is ready, lets others in
      let_in_ -= has_slept;
      throw;
    }
    let_in_ -= has_slept;
  }
  /// From now on no thread comes in, and none waits.
  void close() noexcept {
    if (!is_limited()) return;
    std::lock_guard const lock(mutex_);
    is_closed_ = true;
    for (in_line** at = &first_; *at;) {
      in_line& l = **at;
      if (l.who) {
        at = &l.next;
        continue;
      }
      *at = l.next;
      l.said = in_line::told::go_away;
    }
    last_ = nullptr;
    for (in_line* l = first_; l; l = l->next) last_ = l;
    told_->notify_all();
  }
  /// Whoever is outside cannot start one, until one of those that are here has ended.
  [[nodiscard]] bool nobody_can_come() const noexcept {
    if (!is_limited()) return false;
    std::lock_guard const lock(mutex_);
    return alive_ >= most_ && let_in_ == 0;
  }

  // ---- processes that wait

  [[nodiscard]] bool somebody_waits() const noexcept {
    if (!is_limited()) return false;
    std::lock_guard const lock(mutex_);
    in_line const* l = first_;
    while (l && !l->who) l = l->next;
    return l != nullptr;
  }
  template <class F>
  void for_each_who_waits(F f) const {
    if (!is_limited()) return;
    std::lock_guard const lock(mutex_);
    for (auto const* l = first_; l; l = l->next)
      if (l->who) f(*l->who);
  }
  /// Those who are meant are not let in: each is followed by the next one.  Null if there is none.
  /// A place in line is in no operation, and so nothing holds up who would unwind a process here,
  /// as on other lists (waiter.hpp, WAITER-2): the end of a handler round it, on another thread, is not
  /// to come while `is_meant` looks at its frames.
  template <class IsMeant>
  [[nodiscard]] in_line* turn_away(IsMeant const& is_meant) noexcept {
    if (!is_limited()) return nullptr;
    std::lock_guard const lock(mutex_);
    in_line* found = nullptr;
    in_line** end = &found;
    last_ = nullptr;
    for (in_line** at = &first_; *at;) {
      in_line& l = **at;
      if (l.who && is_meant(static_cast<process const&>(*l.who))) {
        *at = std::exchange(l.next, nullptr);
        *std::exchange(end, &l.next) = &l;
      } else {
        last_ = &l;
        at = &l.next;
      }
    }
    return found;
  }

 private:
  // ---- under the lock

  [[nodiscard]] bool has_entered() noexcept {
    if (alive_ >= most_ || first_) return false;
    ++alive_;
    return true;
  }
  void append(in_line& l) noexcept {
    (last_ ? last_->next : first_) = &l;
    last_ = &l;
  }
  /// As many threads as come first, and one process.
  [[nodiscard]] in_line* let_in() noexcept {
    while (first_ && alive_ < most_) {
      in_line* const l = std::exchange(first_, first_->next);
      if (!first_) last_ = nullptr;
      ++alive_;
      if (l->who) return l;
      ++let_in_;
      l->said = in_line::told::come_in;
      told_->notify_all();
    }
    return nullptr;
  }

  std::size_t most_ = 0;
  bool waits_ = false;
  std::mutex mutable mutex_;
  std::optional<std::condition_variable> told_;  // if there is a limit
  std::size_t alive_ = 0;                        // ADMIT-1
  std::size_t let_in_ = 0;                       // ADMIT-3
  bool is_closed_ = false;
  in_line* first_ = nullptr;  // who waits longest
  in_line* last_ = nullptr;
};

}  // namespace weft::detail
