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
  /// How many, the calling one included; 0: as many as the machine has.
  unsigned threads = 0;
  // As in schedule_options.
  bool forkable = true;
  std::size_t log_limit = detail::replay_log::usual_limit;
  std::stop_token stop{};
  bool virtual_time = false;
  std::size_t max_processes = 0;
  overflow_policy when_full = overflow_policy::fail;
};

/// The work-sharing backend of seeds 000 and 001: several threads, a queue for each.
///
///     schedule<sharing>({.threads = 2}, program, handlers...);
///
/// A thread runs what stands in its own queue, the longest waiting first; what becomes ready there
/// goes to its end.  One whose queue is empty takes from another's, half of it, at most 256, in one
/// visit: so that one visit pays for many; when there is nothing anywhere it looks for a few
/// microseconds longer, if another thread is awake, who may make some, and then sleeps, until
/// somebody has work to share.
///
/// Fairness.  Who moves loses no place: what is taken from a queue is taken from its front, and
/// goes to the front of the other.  Those who stand there have at most 31 more in front of them,
/// and only of those that were put there, not of those that have moved there, and once: see FAIR-2.
/// Every thread takes from the others in turn, every 256 steps at the latest, at least one process
/// if there is one.  So one that has become ready behind k others, at a thread that is stuck in a
/// process that never lets go, runs before any other thread has taken 256 * (n - 1) * (k + 1) more
/// steps, n being the number of threads; at one that takes steps too and is stuck later,
/// 256 * (n - 1) * (k + 256).  Not counted is what others take while the system lets a thread wait
/// that is at work on a queue.  A step and the hand-overs that follow it, at most 64, are one.
///
/// Every 16384 spawns of a thread who spawns lets others go first, if as many are ready there: so
/// what one process makes does not fill the memory before anybody has had a look at it.
///
/// Not deterministic.  With one thread it is, and is one_thread, at up to twice the price.
///
/// It allocates nothing for put and take: the list goes through the processes, of which each is 48
/// bytes larger.  Source: seed 000, corrected as chapter 9 says; docs/models verifies it.
///
///   SHARE-1  What a worker puts goes to its own queue; if somebody works on that, to another one, so
///       that nobody waits for who takes a whole batch.  After that it looks whether somebody
///       sleeps (idle_threads.hpp, IDLE-2), but not after a yield into its own queue when that is
///       empty: it is about to take that one back itself.  Nor after a hand-over, if one of those
///       who sleep looks every 10 milliseconds as long as there are any (IDLE-5).
///   SHARE-2  Nobody holds two queues at once.
///   SHARE-3  A thread that takes puts what it offers into its own queue before that, the oldest first:
///       who has offered it has let go of the thread.  Others take of offers the oldest, from who
///       has nothing in his queue.
///   FAIR-1  Whoever looks at others looks at them in turn, and goes on where it took something last.
///   FAIR-2  Between two times that a thread takes from others, unless it had nothing, are 255 steps:
///       so those it has put in front of its queue have run by then, or have moved on, to an
///       earlier place.
class sharing {
 public:
  static constexpr unsigned wakes = 1;
  using options = sharing_options;

  /// What a process has of us.
  struct alignas(16) header : queue_entry {
    std::uint64_t answer = 0;  // that it is to go on with
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

  /// From anywhere: into the queues in turn.
  void put(thunk&& t, put_reason w) noexcept {
    queue_entry& e = entry_of(std::move(t), w);
    // Relaxed: any number will do.
    (void)enter(e, next_.fetch_add(1, std::memory_order_relaxed) % count_);
    idle_.wake_one();
  }
  /// O(1).  Says no also if somebody is at work on the queue.
  thunk claim(process* p) noexcept {
    queue_entry& e = header_of<header>(*p);
    // Relaxed: a hint, the queue makes sure.
    auto const* const at = static_cast<queue const*>(e.owner.load(std::memory_order_relaxed));
    if (at && const_cast<queue*>(at)->try_dequeue_entry(e) == thread_queue::removal::removed)
      return thunk_of(e);
    return thunk::reason::quiescent;
  }
  void stop() noexcept { idle_.stop(); }

  /// Those who sleep are to look until when: all of them, as any may be the last that has time to.
  void recheck_deadlines() noexcept {
    // [1] seq_cst: published, and then we look who sleeps (idle_threads.hpp, IDLE-2).
    looks_.fetch_add(1, std::memory_order_seq_cst);
    idle_.wake_all();
  }

 private:
  /// A cache line of its own, which two threads do not share by chance.
  struct alignas(64) queue : thread_queue {
    chase_lev<lazy_task*> lazy;  // what its thread will do itself, unless another takes it
  };

  static void move(process& p, sharing_state to) noexcept { header_of<header>(p).state.move(to); }
  /// Ready.  One that is about to wait is so once it waits.
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

  /// At the end of that queue; if somebody works on it, of the next that nobody works on.  Whether
  /// that one was the first, and empty.
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
  std::atomic<unsigned> looks_ = 0;  // how often all were told to look again
  alignas(64) std::atomic<unsigned> next_ = 0;
};

}  // namespace weft

#include "sched/backends/detail/sharing_worker.hpp"
