// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "sched/base/backend.hpp"
#include "sched/base/thunk.hpp"

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
  enum class slept : std::uint8_t { not_at_all, until_woken, until_deadline };

  explicit idle_threads(unsigned threads) : monitors_(std::make_unique<monitor[]>(threads)) {
    list_.reserve(threads);
  }

  /// A thread joins before it takes anything, and leaves at its end.  When all threads have left,
  /// the backend is no longer quiescent.
  void join() noexcept {
    std::lock_guard const lock(mutex_);
    ++threads_;
    ++changes_;  // a thread that decides now ends no run (IDLE-4)
  }
  void leave() noexcept {
    std::lock_guard const lock(mutex_);
    // Relaxed: no other thread is left.
    if (--threads_ == 0) word_.fetch_and(~quiescent, std::memory_order_relaxed);
  }

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
    return word_.load(std::memory_order_relaxed) >=
           quiescent;  // relaxed: nothing is read because of it
  }
  [[nodiscard]] thunk::reason why_over() const noexcept {
    return word_.load(std::memory_order_relaxed) >= stopped ? thunk::reason::stopped  // as above
                                                            : thunk::reason::quiescent;
  }

  /// Whether a thread sleeps, so that wake_one() must be called.  Called after work was published.
  [[nodiscard]] bool is_to_wake() const noexcept {
    // [2] seq_cst: pairs with [1], IDLE-2.
    return (word_.load(std::memory_order_seq_cst) & count) != 0;
  }
  /// Called after work was published.
  void wake_one() noexcept {
    if (!is_to_wake()) return;
    unsigned thread = 0;
    {
      std::lock_guard const lock(mutex_);
      if (list_.empty()) return;
      auto at = list_.end() - 1;
      if (*at == on_watch_ && at != list_.begin()) --at;  // the thread on watch sleeps on (IDLE-5)
      thread = *at;
      strike(at);
    }
    wake(thread);  // it was taken off the list (IDLE-3)
  }
  /// Called after a thread has published work that it will most likely do itself: asks for a thread
  /// on watch (IDLE-5).  If none is on watch, this wakes a sleeping thread, which looks at the
  /// queues, and goes on watch if it finds nothing.
  void request_watch() noexcept {
    // [2] seq_cst: pairs with [1], IDLE-2.
    unsigned const found = word_.load(std::memory_order_seq_cst);
    if ((found & count) == 0 || (found & watch_bits) == watch_bits) return;
    // Relaxed: the thread on watch looks at the queues anyway.
    if ((found & wanted) == 0) word_.fetch_or(wanted, std::memory_order_relaxed);
    if ((found & watched) == 0) wake_one();
  }
  /// Wakes all sleeping threads.  Called after something was published that all threads must look
  /// at.
  void wake_all() noexcept {
    // [3] seq_cst: as [2].
    if ((word_.load(std::memory_order_seq_cst) & count) == 0) return;
    std::lock_guard const lock(mutex_);
    strike_all();
  }
  void stop() noexcept {
    std::lock_guard const lock(mutex_);
    end(stopped);
  }

  /// Sleeps until there may be work, or the run is over.
  template <class AllAreEmpty>
  slept sleep(unsigned self, instant until, quiescence_test dry_now, AllAreEmpty all_are_empty) {
    monitor& m = monitors_[self];
    m.forget();
    announced const a = announce(self);
    if (a.is_over) return slept::not_at_all;
    // The test of quiescence is called without the lock: it may put something.
    if (a.is_last && dry_now() && decide(a.changes, all_are_empty)) return slept::not_at_all;
    if (!all_are_empty()) {
      withdraw(self);
      return slept::not_at_all;
    }
    while (try_watch(self)) {
      instant const nap = std::min(until, instant::clock::now() + nap_time);
      bool const is_woken = m.wait(nap);
      end_watch();
      if (!is_woken && nap != until && all_are_empty()) continue;
      bool const was_listed = withdraw(self);
      if (is_woken) return slept::until_woken;
      request_another_watch();
      return was_listed && nap == until ? slept::until_deadline : slept::until_woken;
    }
    bool const is_woken = m.wait(until);
    // A wake-up may come late: the thread has found the work by itself before, and sleeps again.
    // Then it is woken while it is on the list.
    return withdraw(self) && !is_woken ? slept::until_deadline : slept::until_woken;
  }

 private:
  static constexpr unsigned stopped = 1U << 31;
  static constexpr unsigned quiescent = 1U << 30;
  static constexpr unsigned wanted = 1U << 29;   // there was work to watch since the last nap
  static constexpr unsigned watched = 1U << 28;  // a thread is on watch
  static constexpr unsigned watch_bits = wanted | watched;
  static constexpr unsigned count = watched - 1;
  static constexpr unsigned no_thread = ~0U;
  static constexpr auto nap_time = std::chrono::milliseconds(10);

  /// Where a thread sleeps.  On a cache line of its own.
  class alignas(64) monitor {
   public:
    void forget() noexcept {
      std::lock_guard const lock(mutex_);
      is_woken_ = false;
    }
    void wake() noexcept {
      {
        std::lock_guard const lock(mutex_);
        is_woken_ = true;
      }
      woken_.notify_one();  // not under the lock, which the woken thread takes
    }
    /// Sleeps until wake() is called.  False if the deadline passes first.
    bool wait(instant until) {
      std::unique_lock lock(mutex_);
      auto const is_woken = [this] { return is_woken_; };
      if (until != instant::max()) return woken_.wait_until(lock, until, is_woken);
      woken_.wait(lock, is_woken);
      return true;
    }

   private:
    std::mutex mutex_;
    std::condition_variable woken_;
    bool is_woken_ = false;
  };

  void wake(unsigned thread) noexcept { monitors_[thread].wake(); }
  /// Goes on watch if that is wanted and no thread is on watch (IDLE-5).
  [[nodiscard]] bool try_watch(unsigned self) noexcept {
    std::lock_guard const lock(mutex_);
    unsigned const found = word_.load(std::memory_order_relaxed);  // relaxed: locked; see [4]
    if ((found & watch_bits) != wanted) return false;
    // [4] relaxed: a thread that reads both bits as set wakes no thread (request_watch()); its work
    // is found by the look at the queues that comes after [5].
    word_.fetch_xor(watch_bits, std::memory_order_relaxed);
    on_watch_ = self;
    return true;
  }
  void end_watch() noexcept {
    std::lock_guard const lock(mutex_);
    on_watch_ = no_thread;
    // [5] seq_cst: pairs with [2], as [1]; the looks at the queues come after it.
    word_.fetch_and(~watched, std::memory_order_seq_cst);
  }
  /// Called by a thread that was on watch and now has something to do: wakes another thread to
  /// look, since there may be more work.
  void request_another_watch() noexcept {
    word_.fetch_or(wanted, std::memory_order_relaxed);  // relaxed: the woken thread looks anyway
    wake_one();
  }
  struct announced {
    bool is_over;
    bool is_last;
    std::uint64_t changes;
  };
  announced announce(unsigned self) noexcept {
    std::lock_guard const lock(mutex_);
    if (is_over()) return {true, false, 0};
    list_.push_back(self);  // this thread runs, so it is not on the list (IDLE-1)
    // [1] seq_cst: pairs with [2], IDLE-2.
    word_.fetch_add(1, std::memory_order_seq_cst);
    return {false, list_.size() == threads_, ++changes_};
  }
  /// Ends the run if no thread has joined, entered the list or left it since changes_ was
  /// `changes`, and all queues are empty (IDLE-4).  Returns whether it did.
  template <class AllAreEmpty>
  bool decide(std::uint64_t changes, AllAreEmpty all_are_empty) noexcept {
    std::lock_guard const lock(mutex_);
    if (changes_ != changes || !all_are_empty()) return false;
    end(quiescent);
    return true;
  }
  /// Takes the calling thread off the list.  False if another thread has done so already.
  bool withdraw(unsigned self) noexcept {
    std::lock_guard const lock(mutex_);
    auto const at = std::ranges::find(list_, self);
    if (at == list_.end()) return false;
    strike(at);
    return true;
  }

  // ---- under the lock

  void strike(std::vector<unsigned>::iterator at) noexcept {
    list_.erase(at);
    ++changes_;
    // Relaxed: a thread that still reads the old count takes the lock, and finds the new list.
    word_.fetch_sub(1, std::memory_order_relaxed);
  }
  void end(unsigned how) noexcept {
    word_.fetch_or(how, std::memory_order_relaxed);  // relaxed: the wake-ups come after it
    strike_all();
  }
  void strike_all() noexcept {
    for (unsigned const thread : list_) wake(thread);
    // Relaxed: as in strike().
    word_.fetch_sub(static_cast<unsigned>(list_.size()), std::memory_order_relaxed);
    list_.clear();
    ++changes_;
  }

  std::unique_ptr<monitor[]> monitors_;
  std::mutex mutex_;
  std::vector<unsigned> list_;         // the sleeping threads (IDLE-1); under mutex_
  std::atomic<unsigned> threads_ = 0;  // how many have joined; written under mutex_
  unsigned on_watch_ = no_thread;      // the thread on watch (IDLE-5); under mutex_
  std::uint64_t changes_ = 0;          // counts changes of list_, and calls of join(); under mutex_
  alignas(64) std::atomic<unsigned> word_ = 0;  // the length of the list, and flags
};

}  // namespace weft::detail
