// SPDX-License-Identifier: MIT
#include "weft/sched/backends/sharing.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <thread>
#include <utility>

#include "weft/sched/base/detail/trace_buffer.hpp"
#include "weft/sched/base/trace_event.hpp"

namespace weft {

sharing::sharing(options const& o)
    : count_(o.threads ? o.threads : std::max(1U, std::thread::hardware_concurrency())),
      queues_(std::make_unique<queue[]>(count_)),
      idle_(count_) {}
sharing::~sharing() {
  for (unsigned i = 0; i != count_; ++i) {
    // The lazy tasks that are left are promoted, and the processes dropped (BACKEND-6).
    while (auto const o = queues_[i].lazy.try_pop()) (void)(*o)->promote();
    for (auto f = queues_[i].try_dequeue(); !f.is_empty(); f = queues_[i].try_dequeue())
      (void)thunk_of(f.entry());
  }
}

void sharing::recheck_deadlines() noexcept {
  // [1] seq_cst: pairs with the load in worker::rechecks().  The count is published before
  // wake_all() checks for sleepers, and a sleeper loads it after it has announced itself (IDLE-2 of
  // idle_threads.hpp).
  rechecks_.fetch_add(1, std::memory_order_seq_cst);
  idle_.wake_all();
}
bool sharing::all_are_empty() const noexcept {
  for (unsigned i = 0; i != count_; ++i)
    if (!queues_[i].is_empty() || !queues_[i].lazy.is_empty()) return false;
  return true;
}

void sharing::worker::reserve_lazy(std::size_t n) { own_.lazy.reserve(n); }

bool sharing::worker::sleep_to_deadline(instant until, quiescence_test quiescent) {
  if (unsigned const told = rechecks(); told != rechecks_seen_) {
    rechecks_seen_ = told;
    return true;
  }
  auto const nothing_new = [this] { return home_.all_are_empty() && rechecks() == rechecks_seen_; };
  using idle = detail::idle_threads;
  return home_.idle_.sleep(index_, until, quiescent, idle::queue_test(nothing_new)) ==
         idle::slept::until_deadline;
}

/// Takes a share of the next queue in turn (FAIR-1), or a lazy task of that queue's thread, however
/// full the calling thread's own queue is.
detail::queue_entry* sharing::worker::visit(bool& was_locked) noexcept {
  until_visit_ = steps_to_visit - 1;  // the next 255 steps need no visit (FAIR-2)
  last_victim_ = (last_victim_ + 1) % home_.count_;
  if (last_victim_ == index_) last_victim_ = (last_victim_ + 1) % home_.count_;
  if (last_victim_ == index_) return nullptr;  // there is no other thread
  queue& from = home_.queues_[last_victim_];
  if (detail::queue_entry* const e = share(from, was_locked)) return e;
  return steal_lazy(from, was_locked);
}

/// Adds to the trace that `n` processes, or tasks, of the thread visited last were taken.
void sharing::worker::note_theft(std::uint64_t n) const noexcept {
  detail::note_traced({.value = n,
                       .kind = trace_kind::steal,
                       .other_worker = static_cast<std::uint16_t>(last_victim_)});
}

/// Takes half of the entries by which `from` is longer than this thread's own queue, at least one.
/// Returns the first one, which is to run; the others go to the front of this queue.
detail::queue_entry* sharing::worker::share(queue& from, bool& was_locked) noexcept {
  unsigned const theirs = from.length();
  unsigned const ours = own_.length();
  unsigned const most = ours == 0 ? most_stolen : most_shared;
  detail::entry_chain chain;
  was_locked |= !from.try_share(std::clamp((theirs - std::min(theirs, ours)) / 2, 1U, most), chain);
  if (chain.length == 0) return nullptr;
  note_theft(chain.length);
  detail::queue_entry& first = chain.pop();
  first.state.move(detail::sharing_state::running);
  if (chain.length != 0)
    for (detail::relax wait; !own_.try_prepend(chain);) wait();
  // This check for sleepers also serves a process that yielded into the own queue without a check,
  // and is not taken back now (SHARE-1).
  if (!own_.is_empty()) home_.idle_.wake_one();
  return &first;
}

/// Takes the oldest lazy task of `from`, and returns the process that it becomes, which is to run.
/// Where work is divided again and again, the oldest task is the largest.
detail::queue_entry* sharing::worker::steal_lazy(queue& from, bool& was_lost) noexcept {
  auto const found = chase_lev<lazy_task*>::thief(from.lazy).steal();
  was_lost |= found.is_lost();
  // If more tasks are left, wakes the next thief (BACKEND-6).
  if (found && !from.lazy.is_empty()) home_.idle_.wake_one();
  thunk t = found ? (*found)->promote() : thunk(thunk::reason::quiescent);
  if (!t) return nullptr;
  note_theft(1);
  detail::queue_entry& e = entry_of(std::move(t), put_reason::started);
  e.state.move(detail::sharing_state::running);
  return &e;
}

/// Promotes this thread's own lazy tasks into its queue, the oldest first (SHARE-3).
void sharing::worker::promote_own_lazy() noexcept {
  if (deferrals_left_ != 0 && !own_.is_empty()) {  // the tasks stay for now (BACKEND-8)
    --deferrals_left_;
    return;
  }
  has_lazy_ = false;
  chase_lev<lazy_task*>::thief const oldest(own_.lazy);
  while (own_.lazy.size() != 0)
    if (auto const found = oldest.steal())
      if (thunk t = (*found)->promote()) put(std::move(t), put_reason::started);
}

}  // namespace weft
