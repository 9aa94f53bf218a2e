// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

#include "weft/deque/chase_lev.hpp"
#include "weft/effects/detail/platform.hpp"
#include "weft/effects/multi_resumption.hpp"
#include "weft/sched/backends/detail/idle_threads.hpp"
#include "weft/sched/backends/detail/thread_queue.hpp"
#include "weft/sched/base/backend.hpp"
#include "weft/sched/base/detail/relax.hpp"
#include "weft/sched/base/process.hpp"

namespace weft {

/// How a program is run by several threads that share its work.
struct sharing_options {
  /// How many threads, the calling one included; 0: as many as the machine has.
  unsigned threads = 0;
  // The other fields are those of schedule_options.
  std::optional<bool> forkable{};
  std::size_t log_limit = detail::replay_log::usual_limit;
  std::stop_token stop{};
  bool virtual_time = false;
  std::size_t max_processes = 0;
  overflow_policy when_full = overflow_policy::fail;
  weft::trace* trace = nullptr;
};

/// The work-sharing backend: several threads, each with a queue.
///
///     schedule<sharing>({.threads = 2}, program, handlers...);
///
/// A thread runs the processes in its own queue, first in, first out; a process that becomes ready
/// there goes to the end.  A thread whose queue is empty takes half of another queue, at most 256
/// processes, in one visit, so that one visit pays for many.  If all queues are empty, it goes on
/// looking for a few microseconds, as long as another thread is awake, which may make some work;
/// then it sleeps until another thread has work to share.
///
/// Fairness.  A process that moves loses no place: it is taken from the front of one queue, and
/// goes to the front of the other.  So the processes in the receiving queue have at most 31 more in
/// front of them, and these have left the front before the next ones come (FAIR-2).  Every thread
/// takes from the other threads in turn, every 256 steps at the latest: at least one process, if
/// there is one.
///
/// Let a process p become ready behind k others, at a thread that is stuck in a process that never
/// ends its step.  Then p runs before any other thread has taken 256 * (n - 1) * (k + 1) more
/// steps, where n is the number of threads.  If the thread takes steps at first and is stuck later,
/// the bound is 256 * (n - 1) * (k + 256).  These bounds do not count the steps that are taken
/// while the system suspends a thread that has claimed a queue.  A step and the hand-overs that
/// follow it, at most 64, count as one.
///
/// After every 16384 spawns on a thread, the process that spawns lets the others go first, if at
/// least 16384 are ready there.  So one process does not fill the memory with processes before any
/// of them has run.
///
/// Not deterministic, except with one thread: then it does the same as one_thread, at up to twice
/// the price.
///
/// put and take are O(1), and a visit to another queue O(n) in the processes that it takes.  They
/// allocate nothing: each queue is a list, linked through the headers of the processes, which make
/// each process 48 bytes larger.  Thread safe, except for a worker, which its own thread
/// uses.  Source: the pseudo-code of docs/appendix_pseudo_code_read_twice.md, as corrected there;
/// docs/models verifies it.
///
///   SHARE-1  A worker puts a process into its own queue.  If another thread has claimed that
///       queue, it puts the process into another one, so that no worker waits for a thief that
///       takes a batch.  Then the worker checks whether a thread sleeps, and wakes one
///       (idle_threads.hpp, IDLE-2).  There are two exceptions, if the worker's own queue was empty
///       before the put.  After a yield the worker does not check, since it is about to take the
///       process back itself.  After a hand-over it wakes no thread if one is on watch: that thread
///       looks at the queues every 10 milliseconds (IDLE-5).
///   SHARE-2  No thread claims two queues at once.
///   SHARE-3  Before a thread takes, it promotes its own lazy tasks into its own queue, the oldest
///       first: the step of the process that pushed them is over.  A thief that finds the queue of
///       another thread empty, or claimed, takes the oldest lazy task of that thread.
///   FAIR-1  A thread visits the other threads in turn, and begins each time behind the one that it
///       visited last.
///   FAIR-2  Between two visits in which a thread takes something there are at least 255 steps,
///       unless its own queue was empty.  So by the second visit, the processes that the first one
///       put in front of the queue have run, or have moved to an earlier place in another queue.
class sharing {
 public:
  static constexpr unsigned wakes = 1;
  using options = sharing_options;  ///< The options of this backend.

  /// The backend's header of a process.
  struct alignas(16) header : detail::queue_entry {
    std::uint64_t answer = 0;  // the answer to resume the process with
  };

  class worker;

  sharing() : sharing(options()) {}
  explicit sharing(options const& o);
  sharing(sharing const&) = delete;
  sharing& operator=(sharing const&) = delete;
  ~sharing();

  /// The number of threads.
  [[nodiscard]] unsigned threads() const noexcept { return count_; }

  /// Puts into the queues in turn.  Called by any thread.
  void put(thunk&& t, put_reason w) noexcept {
    detail::queue_entry& e = entry_of(std::move(t), w);
    // Relaxed: next_ only spreads the puts over the queues, so any number will do.
    (void)enter(e, next_.fetch_add(1, std::memory_order_relaxed) % count_);
    idle_.wake_one();
  }
  /// O(1).  Also returns an empty thunk if another thread has claimed the queue.
  thunk claim(process* p) noexcept {
    detail::queue_entry& e = header_of<header>(*p);
    // Relaxed: a hint, which the queue checks under its claim.
    auto const* const at = static_cast<queue const*>(e.owner.load(std::memory_order_relaxed));
    if (at &&
        const_cast<queue*>(at)->try_dequeue_entry(e) == detail::thread_queue::removal::removed)
      return thunk_of(e);
    return thunk::reason::quiescent;
  }
  void stop() noexcept { idle_.stop(); }

  /// Makes all sleeping threads return from take(), and compute their deadlines again: any of them
  /// may be the only one that stays idle, and it then has to wake at the earliest deadline.
  void recheck_deadlines() noexcept;

 private:
  /// Aligned to a cache line, so that the queues of two threads share none.
  struct alignas(64) queue : detail::thread_queue {
    chase_lev<lazy_task*> lazy;  // reclaimed by the queue's thread, unless a thief takes them
  };

  static void move(process& p, detail::sharing_state to) noexcept {
    header_of<header>(p).state.move(to);
  }
  /// Makes the process of `t` ready.  If the process is about to sleep, waits until it does.
  [[nodiscard]] static detail::queue_entry& entry_of(thunk&& t, put_reason w) noexcept {
    auto& at = header_of<header>(*t.get());
    at.answer = t.answer();
    (void)t.release();
    if (w == put_reason::yielded || w == put_reason::handed_over ||
        !at.state.wake(detail::sharing_state::queued))
      at.state.move(detail::sharing_state::queued);
    return at;
  }
  [[nodiscard]] static thunk thunk_of(detail::queue_entry& e) noexcept {
    auto& at = static_cast<header&>(e);
    return thunk(&process_behind(at), at.answer);
  }

  /// Appends `e` to the queue `first`; if that is claimed, to the next queue that is not.  Returns
  /// whether `e` went to the queue `first`, and that queue was empty.
  bool enter(detail::queue_entry& e, unsigned first) noexcept {
    for (detail::relax wait;; wait())
      for (unsigned i = 0; i != count_; ++i) {
        auto const entered = queues_[(first + i) % count_].try_enqueue(e);
        if (entered != detail::thread_queue::entered::locked)
          return i == 0 && entered == detail::thread_queue::entered::was_empty;
      }
  }
  [[nodiscard]] bool all_are_empty() const noexcept;

  unsigned count_;
  std::unique_ptr<queue[]> queues_;
  detail::idle_threads idle_;
  std::atomic<unsigned> rechecks_ = 0;  // how often recheck_deadlines() was called
  alignas(64) std::atomic<unsigned> next_ = 0;
};

/// A worker of the work-sharing backend: the part of the backend that one thread uses.
class sharing::worker {
 public:
  worker(sharing& home, unsigned index) noexcept
      : home_(home), own_(home.queues_[index]), index_(index), last_victim_(index) {
    home_.idle_.join();
  }
  worker(worker const&) = delete;
  worker& operator=(worker const&) = delete;
  ~worker() { home_.idle_.leave(); }

  void put(thunk&& t, put_reason w) noexcept {
    bool const was_alone = home_.enter(entry_of(std::move(t), w), index_);
    // Wakes a sleeping thread for the process, but for the two exceptions of SHARE-1.
    if (w == put_reason::handed_over && was_alone) return home_.idle_.request_watch();
    if (w != put_reason::yielded || !was_alone) home_.idle_.wake_one();
  }

  [[nodiscard]] bool has_other_work() const noexcept { return !own_.is_empty(); }
  void defer_lazy_tasks() noexcept { deferrals_left_ = detail::max_deferrals; }
  template <class Next>
  [[nodiscard]] lazy_push push_lazy(std::size_t n, Next next) noexcept {
    if (!own_.lazy.try_push_all(n, next)) [[unlikely]]
      return lazy_push::no_room;
    has_lazy_ = true;
    if (is_alone_) return lazy_push::done;
    own_.lazy.publish();
    return home_.idle_.is_to_wake() ? lazy_push::unannounced : lazy_push::done;
  }
  void reserve_lazy(std::size_t n);
  void announce_lazy() noexcept { home_.idle_.wake_one(); }
  [[nodiscard]] lazy_task* reclaim() noexcept {
    auto const o = is_alone_ ? own_.lazy.try_pop_alone() : own_.lazy.try_pop();
    return o ? *o : nullptr;
  }

  // ---- called when a process of this thread waits or hands over (WAITER-3 of waiter.hpp)

  void on_wait_begin(process& p) noexcept { move(p, detail::sharing_state::yielding); }
  void on_waiting(process& p, wait_kind) noexcept { move(p, detail::sharing_state::sleeping); }
  void on_wait_cancelled(process& p) noexcept { move(p, detail::sharing_state::running); }
  /// Called when `p`, which waits or is about to wait, is to run next on this thread.
  void on_handover(process& p) noexcept {
    (void)header_of<header>(p).state.wake(detail::sharing_state::running);
  }

  /// Counts a spawn.  Returns whether the process that spawns must let others go first, since too
  /// many processes are ready.
  [[nodiscard]] bool count_spawn() noexcept {
    if (++spawned_ < most_ready) return false;
    spawned_ = 0;  // the next most_ready spawns need not wait: so the process makes progress
    return own_.length() >= most_ready;
  }
  /// Whether exchange() may be called: not while a thread sleeps, which put() might have to wake,
  /// and not when a visit is due.
  [[nodiscard]] bool can_exchange() const noexcept {
    return until_visit_ != 0 && home_.idle_.no_thread_sleeps();
  }
  [[gnu::always_inline]] thunk exchange(thunk t) noexcept {
    --until_visit_;
    detail::queue_entry& e = entry_of(std::move(t), put_reason::yielded);
    auto found = own_.try_exchange(e);
    for (detail::relax wait; found.is_locked(); found = own_.try_exchange(e)) wait();
    return thunk_of(found.entry());
  }

  /// Returns the next process.  The thread sleeps while there is none (BACKEND-5).
  thunk take(instant until, quiescence_test quiescent) {
    for (;;) {
      if (home_.idle_.is_over()) return home_.idle_.why_over();
      if (has_lazy_) [[unlikely]]
        promote_own_lazy();
      if (detail::queue_entry* const e = find()) return thunk_of(*e);
      if (sleep_to_deadline(until, quiescent)) return thunk::reason::deadline;
    }
  }

 private:
  static constexpr unsigned steps_to_visit = 256;
  static constexpr unsigned most_shared = 32;
  static constexpr unsigned most_stolen = 256;
  static constexpr unsigned most_ready = 16'384;
  static constexpr unsigned most_looks = 50;
  static constexpr unsigned looks_apart = 8;

  [[nodiscard]] unsigned rechecks() const noexcept {
    // seq_cst: pairs with [1] in recheck_deadlines() (sharing.cpp), so no sleeper misses a call.
    return home_.rechecks_.load(std::memory_order_seq_cst);
  }
  detail::queue_entry* find() noexcept;
  /// Sleeps until there may be work.  Returns whether the deadline has passed, or is to be computed
  /// again.
  bool sleep_to_deadline(instant until, quiescence_test quiescent);
  detail::queue_entry* visit(bool& was_locked) noexcept;
  detail::queue_entry* share(queue& from, bool& was_locked) noexcept;
  void promote_own_lazy() noexcept;
  detail::queue_entry* steal_lazy(queue& from, bool& was_lost) noexcept;
  void note_theft(std::uint64_t n) const noexcept;

  sharing& home_;
  queue& own_;
  unsigned index_;
  bool const is_alone_ = home_.count_ == 1;
  unsigned rechecks_seen_ = 0;
  unsigned spawned_ = 0;                       // spawns since the last check
  unsigned last_victim_;                       // the queue that was visited last
  unsigned until_visit_ = steps_to_visit - 1;  // steps until the next visit
  bool has_lazy_ = false;                      // lazy tasks were pushed since the last take
  unsigned deferrals_left_ = 0;  // for how many more takes lazy tasks may stay (BACKEND-8)
};

/// Returns a ready process.  Null if no queue had one, after looking several times.
inline detail::queue_entry* sharing::worker::find() noexcept {
  bool was_locked = false;
  if (until_visit_ == 0)
    if (detail::queue_entry* const e = visit(was_locked)) return e;
  --until_visit_;
  for (unsigned looks = 0;; ++looks) {
    auto const found = own_.try_dequeue();
    was_locked = found.is_locked();
    if (!was_locked && !found.is_empty()) return &found.entry();
    for (unsigned i = 1; i != home_.count_; ++i)
      if (detail::queue_entry* const e = visit(was_locked)) return e;
    if (!was_locked && (looks >= most_looks || home_.idle_.all_others_sleep())) return nullptr;
    detail::pause_for(looks_apart);
  }
}

static_assert(concurrent_backend<sharing> && exchanging_backend<sharing> && lazy_backend<sharing> &&
              configurable_backend<sharing>);

}  // namespace weft
