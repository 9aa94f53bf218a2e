// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "sched/backends/sharing.hpp"

namespace weft {

/// A worker of the work-sharing backend: a thread's end of it.
class sharing::worker {
 public:
  worker(sharing& home, unsigned index) noexcept
      : home_(home), own_(home.queues_[index]), index_(index), visits_(index) {
    home_.idle_.join();
  }
  worker(worker const&) = delete;
  worker& operator=(worker const&) = delete;
  ~worker() { home_.idle_.leave(); }

  void put(thunk&& t, put_reason w) noexcept {
    bool const was_alone = home_.enter(entry_of(std::move(t), w), index_);
    // SHARE-1.
    if (w == put_reason::handed_over && was_alone) return home_.idle_.request_watch();
    if (w != put_reason::yielded || !was_alone) home_.idle_.wake_one();
  }

  [[nodiscard]] bool has_other_work() const noexcept { return !own_.is_empty(); }
  void defer_lazy_tasks() noexcept { kept_ = detail::max_deferrals; }
  template <class Next>
  [[nodiscard]] lazy_push push_lazy(std::size_t n, Next next) noexcept {
    if (!own_.lazy.try_push_all(n, next)) [[unlikely]]
      return lazy_push::no_room;
    has_lazy_ = true;
    if (is_alone_) return lazy_push::done;
    own_.lazy.publish();
    return home_.idle_.is_to_wake() ? lazy_push::unannounced : lazy_push::done;
  }
  void reserve_lazy(std::size_t n) { own_.lazy.reserve(n); }
  void announce_lazy() noexcept { home_.idle_.wake_one(); }
  [[nodiscard]] lazy_task* reclaim() noexcept {
    auto const o = is_alone_ ? own_.lazy.try_pop_alone() : own_.lazy.try_pop();
    return o ? *o : nullptr;
  }

  // ---- callbacks of a process that runs here (WAIT-4 of wait_registry.hpp)

  void on_wait_begin(process& p) noexcept { move(p, sharing_state::yielding); }
  void on_waiting(process& p, wait_kind) noexcept { move(p, sharing_state::sleeping); }
  void on_wait_cancelled(process& p) noexcept { move(p, sharing_state::running); }
  /// The process waits, or is about to, and runs next on this thread.
  void on_handover(process& p) noexcept {
    (void)header_of<header>(p).state.wake(sharing_state::running);
  }

  /// Whether so many processes are ready that a process that spawns must let others go first.
  [[nodiscard]] bool is_crowded() noexcept {
    if (++spawned_ < most_ready) return false;
    spawned_ = 0;  // the next most_ready spawns need not wait: so the process makes progress
    return own_.length() >= most_ready;
  }
  /// False while a thread sleeps, which might have to be woken, and when a visit is due.
  [[nodiscard]] bool can_exchange() const noexcept {
    return until_visit_ != 0 && home_.idle_.nobody_sleeps();
  }
  [[gnu::always_inline]] thunk exchange(thunk t) noexcept {
    --until_visit_;
    queue_entry& e = entry_of(std::move(t), put_reason::yielded);
    auto found = own_.try_exchange(e);
    for (detail::relax wait; found.is_locked(); found = own_.try_exchange(e)) wait();
    return thunk_of(found.entry());
  }

  /// Returns the next process.  Parks while there is none.
  thunk take(instant until, quiescence_test quiescent) {
    for (;;) {
      if (home_.idle_.is_over()) return home_.idle_.why_over();
      if (has_lazy_) [[unlikely]]
        promote_own_lazy();
      if (queue_entry* const e = find()) return thunk_of(*e);
      if (unsigned const told = looks(); told != looked_) {
        looked_ = told;
        return thunk::reason::deadline;
      }
      auto const nothing_new = [this] { return home_.all_are_empty() && looks() == looked_; };
      using slept = detail::idle_threads::slept;
      if (home_.idle_.sleep(index_, until, quiescent, nothing_new) == slept::until_deadline)
        return thunk::reason::deadline;
    }
  }

 private:
  static constexpr unsigned steps_to_visit = 256;
  static constexpr unsigned most_shared = 32;
  static constexpr unsigned most_stolen = 256;
  static constexpr unsigned most_ready = 16'384;
  static constexpr unsigned most_looks = 50;
  static constexpr unsigned looks_apart = 8;

  [[nodiscard]] unsigned looks() const noexcept {
    return home_.looks_.load(std::memory_order_seq_cst);  // seq_cst: with [1], after announcing
  }
  queue_entry* find() noexcept;
  queue_entry* visit(bool& was_locked) noexcept;
  queue_entry* share(queue& from, bool& was_locked) noexcept;
  void promote_own_lazy() noexcept;
  queue_entry* steal_lazy(queue& from, bool& was_lost) noexcept;

  sharing& home_;
  queue& own_;
  unsigned index_;
  bool const is_alone_ = home_.count_ == 1;
  unsigned looked_ = 0;                        // the last value of looks_ seen
  unsigned spawned_ = 0;                       // spawns since the last check
  unsigned visits_;                            // the queue that was visited last
  unsigned until_visit_ = steps_to_visit - 1;  // steps until the next visit
  bool has_lazy_ = false;                      // tasks were pushed since the last take
  unsigned kept_ = 0;                          // BACKEND-8: takes that are left
};

/// Returns a ready process; null if there is none after some looks.
inline queue_entry* sharing::worker::find() noexcept {
  bool was_locked = false;
  if (until_visit_ == 0)
    if (queue_entry* const e = visit(was_locked)) return e;
  --until_visit_;
  for (unsigned looks = 0;; ++looks) {
    auto const found = own_.try_dequeue();
    was_locked = found.is_locked();
    if (!was_locked && !found.is_empty()) return &found.entry();
    for (unsigned i = 1; i != home_.count_; ++i)
      if (queue_entry* const e = visit(was_locked)) return e;
    if (!was_locked && (looks >= most_looks || home_.idle_.all_others_sleep())) return nullptr;
    detail::pause_for(looks_apart);
  }
}

/// Takes a share of the next queue in turn (FAIR-1), however full this thread's own one is.
inline queue_entry* sharing::worker::visit(bool& was_locked) noexcept {
  until_visit_ = steps_to_visit - 1;  // FAIR-2
  visits_ = (visits_ + 1) % home_.count_;
  if (visits_ == index_) visits_ = (visits_ + 1) % home_.count_;
  if (visits_ == index_) return nullptr;  // there is no other thread
  queue& from = home_.queues_[visits_];
  if (queue_entry* const e = share(from, was_locked)) return e;
  return steal_lazy(from, was_locked);
}

/// Takes half of the entries that `from` has more than the own queue, at least one.  The first is
/// to run.
inline queue_entry* sharing::worker::share(queue& from, bool& was_locked) noexcept {
  unsigned const theirs = from.length();
  unsigned const ours = own_.length();
  unsigned const most = ours == 0 ? most_stolen : most_shared;
  entry_chain chain;
  was_locked |= !from.try_share(std::clamp((theirs - std::min(theirs, ours)) / 2, 1U, most), chain);
  if (chain.length == 0) return nullptr;
  queue_entry& first = chain.pop();
  first.state.move(sharing_state::running);
  if (chain.length != 0)
    for (detail::relax wait; !own_.try_prepend(chain);) wait();
  // Also for a process that was put without a check for sleepers, and is not taken back now
  // (SHARE-1).
  if (!own_.is_empty()) home_.idle_.wake_one();
  return &first;
}

/// Takes the oldest lazy task: where work is divided again and again, the largest.  It is to run.
inline queue_entry* sharing::worker::steal_lazy(queue& from, bool& was_lost) noexcept {
  auto const found = chase_lev<lazy_task*>::thief(from.lazy).steal();
  was_lost |= found.is_lost();
  if (found && !from.lazy.is_empty()) home_.idle_.wake_one();  // BACKEND-6: the next thief
  thunk t = found ? (*found)->promote() : thunk(thunk::reason::quiescent);
  if (!t) return nullptr;
  queue_entry& e = entry_of(std::move(t), put_reason::started);
  e.state.move(sharing_state::running);
  return &e;
}
/// SHARE-3.
inline void sharing::worker::promote_own_lazy() noexcept {
  if (kept_ != 0 && !own_.is_empty()) {  // BACKEND-8
    --kept_;
    return;
  }
  has_lazy_ = false;
  chase_lev<lazy_task*>::thief const oldest(own_.lazy);
  while (own_.lazy.size() != 0)
    if (auto const found = oldest.steal())
      if (thunk t = (*found)->promote()) put(std::move(t), put_reason::started);
}

static_assert(concurrent_backend<sharing> && exchanging_backend<sharing> && lazy_backend<sharing> &&
              configurable_backend<sharing>);

}  // namespace weft
