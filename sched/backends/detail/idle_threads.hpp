// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "weft/sched/base/backend.hpp"
#include "weft/sched/base/thunk.hpp"

namespace weft::detail {

/// The threads of a backend that have found nothing to do, and the decision that the run is over.
///
///   IDLE-1  The list of sleeping threads is changed under the lock; no thread is on it twice
///       (docs/models, DEFECT-7).
///   IDLE-2  A thread that will sleep first announces its sleep [1], then looks at all queues.  A
///       thread that puts work into a queue first publishes the work, then looks whether a thread
///       sleeps [2] (DEFECT-8).  These four accesses are seq_cst, those to a queue as well
///       (thread_queue.hpp, [1] and [3]); or there are fences in between (chase_lev.hpp, STEAL-7).
///       So they have one order for all threads: either the sleeper's look comes after the work was
///       published, or the putter's look comes after the announcement.
///   IDLE-3  A thread that is taken off the list is always woken.
///   IDLE-4  The run is over when every thread is on the list, nothing is due and all queues are
///       empty.  The last thread to announce its sleep decides this, under the lock.  It asks
///       whether something is due before it looks at the queues: a process that was due is put into
///       a queue before it stops being due.  If another thread has left the list in between, or
///       joined the backend, the last thread decides nothing: that other thread may have taken the
///       process that was due.
///   IDLE-5  If a thread puts work that it will most likely do itself, and soon, it wakes no thread
///       as long as a sleeping thread is on watch.  The thread on watch sleeps for a nap only, and
///       then looks at all queues; if it finds nothing, and there was such work during the nap, it
///       takes another nap.  It announces the end of its watch before it looks; if it has found
///       something to do, it wakes another thread, which looks in its place.
class idle_threads {
 public:
  /// The test whether all queues of the backend are empty.
  class queue_test {
   public:
    template <class F>
    explicit queue_test(F const& f) noexcept
        : f_([](void const* data) noexcept { return (*static_cast<F const*>(data))(); }),
          data_(&f) {}
    [[nodiscard]] bool all_are_empty() const noexcept { return f_(data_); }

   private:
    bool (*f_)(void const*) noexcept;
    void const* data_;
  };
  enum class slept : std::uint8_t { not_at_all, until_woken, until_deadline };

  explicit idle_threads(unsigned threads);
  idle_threads(idle_threads const&) = delete;
  idle_threads& operator=(idle_threads const&) = delete;
  ~idle_threads();

  /// A thread joins before it takes anything, and leaves at its end.  When all threads have left,
  /// the backend is no longer quiescent.
  void join() noexcept;
  void leave() noexcept;

  /// A hint: whether no thread sleeps.
  [[nodiscard]] bool no_thread_sleeps() const noexcept {
    return (word_.load(std::memory_order_relaxed) & ~watch_bits) == 0;  // relaxed: a hint
  }
  /// A hint for a thread that does not sleep: whether all other threads do.  Then only work from
  /// outside can give the calling thread something to do.
  [[nodiscard]] bool all_others_sleep() const noexcept {
    // Relaxed: a hint.  Also true if the run is over.
    return (word_.load(std::memory_order_relaxed) & ~watch_bits) + 1 >=
           threads_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] bool is_over() const noexcept {
    // Relaxed: no other data is read because of this flag.
    return word_.load(std::memory_order_relaxed) >= quiescent;
  }
  [[nodiscard]] thunk::reason why_over() const noexcept {
    // Relaxed: no other data is read because of this flag.
    return word_.load(std::memory_order_relaxed) >= stopped ? thunk::reason::stopped
                                                            : thunk::reason::quiescent;
  }

  /// Whether a thread sleeps, so that wake_one() must be called.  Called after work was published.
  [[nodiscard]] bool is_to_wake() const noexcept {
    // [2] seq_cst: pairs with [1] in announce() (idle_threads.cpp), as IDLE-2 says.
    return (word_.load(std::memory_order_seq_cst) & count) != 0;
  }
  /// Wakes a thread, if one sleeps.  Called after work was published.
  void wake_one() noexcept {
    if (is_to_wake()) wake_one_slow();
  }
  /// Called after a thread has published work that it will most likely do itself: asks for a thread
  /// on watch (IDLE-5).  If none is on watch, this wakes a sleeping thread, which looks at the
  /// queues, and goes on watch if it finds nothing.
  void request_watch() noexcept {
    // [2] seq_cst: pairs with [1] in announce() (idle_threads.cpp), as IDLE-2 says.
    unsigned const found = word_.load(std::memory_order_seq_cst);
    if ((found & count) == 0 || (found & watch_bits) == watch_bits) return;
    // Relaxed: the flag orders nothing, since the thread on watch looks at the queues anyway.
    if ((found & wanted) == 0) word_.fetch_or(wanted, std::memory_order_relaxed);
    if ((found & watched) == 0) wake_one();
  }
  /// Wakes all sleeping threads.  Called after something was published that all threads must look
  /// at.
  void wake_all() noexcept;
  void stop() noexcept;

  /// Sleeps until there may be work, the instant `until`, or the end of the run.  `dry_now`: the
  /// test of quiescence.
  slept sleep(unsigned self, instant until, quiescence_test dry_now, queue_test queues);

 private:
  static constexpr unsigned stopped = 1U << 31;
  static constexpr unsigned quiescent = 1U << 30;
  static constexpr unsigned wanted = 1U << 29;   // there was work to watch since the last nap
  static constexpr unsigned watched = 1U << 28;  // a thread is on watch
  static constexpr unsigned watch_bits = wanted | watched;
  static constexpr unsigned count = watched - 1;
  static constexpr unsigned no_thread = ~0U;

  class monitor;
  struct announced {
    bool is_over;
    bool is_last;
    std::uint64_t changes;
  };

  void wake_one_slow() noexcept;
  void wake(unsigned thread) noexcept;
  [[nodiscard]] bool try_watch(unsigned self) noexcept;
  void end_watch() noexcept;
  void request_another_watch() noexcept;
  announced announce(unsigned self) noexcept;
  bool decide(std::uint64_t changes, queue_test queues) noexcept;
  bool withdraw(unsigned self) noexcept;
  void strike(std::vector<unsigned>::iterator at) noexcept;
  void end(unsigned how) noexcept;
  void strike_all() noexcept;

  std::unique_ptr<monitor[]> monitors_;
  std::mutex mutex_;
  std::vector<unsigned> list_;         // the sleeping threads (IDLE-1); under mutex_
  std::atomic<unsigned> threads_ = 0;  // how many have joined; written under mutex_
  unsigned on_watch_ = no_thread;      // the thread on watch (IDLE-5); under mutex_
  std::uint64_t changes_ = 0;          // counts changes of list_, and calls of join(); under mutex_
  alignas(64) std::atomic<unsigned> word_ = 0;  // the length of the list, and flags
};

}  // namespace weft::detail
