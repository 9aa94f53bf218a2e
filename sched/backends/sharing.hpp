// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <thread>
#include <utility>

#include "deque/chase_lev.hpp"
#include "effects/multi_resumption.hpp"
#include "sched/backends/detail/idle_threads.hpp"
#include "sched/backends/thread_queue.hpp"
#include "sched/base/backend.hpp"
#include "sched/base/detail/relax.hpp"
#include "sched/base/process.hpp"

namespace weft {

/// How a program is run by several threads that share its work.
struct sharing_options {
  /// How many threads, the calling one included; 0: as many as the machine has.
  unsigned threads = 0;
  // As in schedule_options.
  bool forkable = true;
  std::size_t log_limit = detail::replay_log::usual_limit;
  std::stop_token stop{};
  bool virtual_time = false;
  std::size_t max_processes = 0;
  overflow_policy when_full = overflow_policy::fail;
};

/// The work-sharing backend: several threads, each with a queue.
///
///     schedule<sharing>({.threads = 2}, program, handlers...);
///
/// A thread runs the processes in its own queue, first in, first out; a process that becomes ready
/// there goes to the end.  A thread whose queue is empty takes half of another queue, at most 256
/// processes, in one visit, so that one visit pays for many.  If all queues are empty, it looks on
/// for a few microseconds while another thread is awake, which may make some work; then it sleeps
/// until another thread has work to share.
///
/// Fairness.  A process that moves loses no place: it is taken from the front of one queue, and
/// goes to the front of the other.  A process in the receiving queue gets at most 31 others in
/// front of it, once, and only if it was put there, not if it moved there (FAIR-2).  Every thread
/// takes from the others in turn, every 256 steps at the latest, at least one process if there is
/// one.  So a process that becomes ready behind k others, at a thread that is stuck in a process
/// that never lets go, runs before any other thread has taken 256 * (n - 1) * (k + 1) more steps,
/// where n is the number of threads; at a thread that takes steps too and is stuck later,
/// 256 * (n - 1) * (k + 256).  This does not count the steps that others take while the system
/// suspends a thread that has claimed a queue.  A step and the hand-overs that follow it, at most
/// 64, count as one.
///
/// After every 16384 spawns on a thread, the process that spawns lets the others go first, if as
/// many are ready there.  So one process does not fill the memory with processes before any of them
/// has run.
///
/// Not deterministic, except with one thread: then it does the same as one_thread, at up to twice
/// the price.
///
/// put and take allocate nothing: the list goes through the processes, each of which is 48 bytes
/// larger.  Source: the pseudo-code of docs/09_pseudo_code_read_twice.md, as corrected there;
/// docs/models verifies it.
///
///   SHARE-1  A worker puts a process into its own queue; if another thread has claimed that queue,
///       into another one, so that no worker waits for a thief that takes a batch.  Then the worker
///       checks whether a thread sleeps (idle_threads.hpp, IDLE-2).  It does not check after a
///       yield into its own queue if that was empty, since it is about to take that process back
///       itself; nor after a hand-over while a sleeping thread is on watch, which looks every 10
///       milliseconds (IDLE-5).
///   SHARE-2  No thread claims two queues at once.
///   SHARE-3  Before a thread takes, it promotes its own lazy tasks into its own queue, the oldest
///       first: the process that pushed them has let go of the thread.  Thieves take the oldest
///       lazy task of a thread whose queue is empty.
///   FAIR-1  A thread visits the others in turn, and continues where it took something last.
///   FAIR-2  Between two visits in which a thread takes something there are 255 steps, unless its
///       own queue was empty.  So the processes that it has put in front of its queue have run by
///       then, or have moved on, to an earlier place.
class sharing {
 public:
  static constexpr unsigned wakes = 1;
  using options = sharing_options;

  /// The backend's header of a process.
  struct alignas(16) header : queue_entry {
    std::uint64_t answer = 0;  // to resume the process with
  };

  class worker;

  sharing() : sharing(options()) {}
  explicit sharing(options const& o)
      : count_(o.threads ? o.threads : std::max(1U, std::thread::hardware_concurrency())),
        queues_(std::make_unique<queue[]>(count_)),
        idle_(count_) {}
  sharing(sharing const&) = delete;
  sharing& operator=(sharing const&) = delete;
  ~sharing() {
    for (unsigned i = 0; i != count_; ++i) {
      while (auto const o = queues_[i].lazy.try_pop()) (void)(*o)->promote();  // BACKEND-6
      for (auto f = queues_[i].try_dequeue(); !f.is_empty(); f = queues_[i].try_dequeue())
        (void)thunk_of(f.entry());
    }
  }

  [[nodiscard]] unsigned threads() const noexcept { return count_; }

  /// By any thread: into the queues in turn.
  void put(thunk&& t, put_reason w) noexcept {
    queue_entry& e = entry_of(std::move(t), w);
    // Relaxed: any number will do.
    (void)enter(e, next_.fetch_add(1, std::memory_order_relaxed) % count_);
    idle_.wake_one();
  }
  /// O(1).  Also returns an empty thunk if another thread has claimed the queue.
  thunk claim(process* p) noexcept {
    queue_entry& e = header_of<header>(*p);
    // Relaxed: a hint, which the queue checks under its claim.
    auto const* const at = static_cast<queue const*>(e.owner.load(std::memory_order_relaxed));
    if (at && const_cast<queue*>(at)->try_dequeue_entry(e) == thread_queue::removal::removed)
      return thunk_of(e);
    return thunk::reason::quiescent;
  }
  void stop() noexcept { idle_.stop(); }

  /// Makes all sleeping threads compute their deadlines again: each of them may be the only one
  /// that stays idle.
  void recheck_deadlines() noexcept {
    // [1] seq_cst: pairs with the load in looks(); published before the check for sleepers (IDLE-2
    // of idle_threads.hpp).
    looks_.fetch_add(1, std::memory_order_seq_cst);
    idle_.wake_all();
  }

 private:
  /// Aligned to a cache line, so that two threads do not share one.
  struct alignas(64) queue : thread_queue {
    chase_lev<lazy_task*> lazy;  // reclaimed by its thread, unless a thief takes them
  };

  static void move(process& p, sharing_state to) noexcept { header_of<header>(p).state.move(to); }
  /// Makes the process of `t` ready.  If the process is about to wait, this waits until it sleeps.
  [[nodiscard]] static queue_entry& entry_of(thunk&& t, put_reason w) noexcept {
    auto& at = header_of<header>(*t.get());
    at.answer = t.answer();
    (void)t.release();
    if (w == put_reason::yielded || w == put_reason::handed_over ||
        !at.state.wake(sharing_state::queued))
      at.state.move(sharing_state::queued);
    return at;
  }
  [[nodiscard]] static thunk thunk_of(queue_entry& e) noexcept {
    auto& at = static_cast<header&>(e);
    return thunk(&process_behind(at), at.answer);
  }

  /// Appends to that queue, or if it is claimed, to the next one that is not.  Returns whether `e`
  /// is in the first one, and that one was empty.
  bool enter(queue_entry& e, unsigned first) noexcept {
    for (detail::relax wait;; wait())
      for (unsigned i = 0; i != count_; ++i) {
        auto const entered = queues_[(first + i) % count_].try_enqueue(e);
        if (entered != thread_queue::entered::locked)
          return i == 0 && entered == thread_queue::entered::was_empty;
      }
  }
  [[nodiscard]] bool all_are_empty() const noexcept {
    for (unsigned i = 0; i != count_; ++i)
      if (!queues_[i].is_empty() || !queues_[i].lazy.is_empty()) return false;
    return true;
  }

  unsigned count_;
  std::unique_ptr<queue[]> queues_;
  detail::idle_threads idle_;
  std::atomic<unsigned> looks_ = 0;  // counts recheck_deadlines()
  alignas(64) std::atomic<unsigned> next_ = 0;
};

}  // namespace weft

#include "sched/backends/detail/sharing_worker.hpp"
