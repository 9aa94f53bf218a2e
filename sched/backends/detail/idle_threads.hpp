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
///   IDLE-1  The list is changed under the lock; no thread is on it twice (docs/models, DEFECT-7).
///   IDLE-2  A thread that will sleep announces it, then looks at all queues; a thread that puts
///       work into a queue publishes it, then looks whether a thread sleeps (DEFECT-8).  The
///       announcement [1] and that look [2], the claim of the queue and the look at it
///       (thread_queue.hpp, [1] and [3]) are all seq_cst, or there are fences in between
///       (chase_lev.hpp, STEAL-7).  In their one order either the sleeper's look comes after the
///       work, or the putter's look comes after the announcement.
///   IDLE-3  A thread that is taken off the list is always woken.
///   IDLE-4  The run is over when every thread is on the list, nothing is due and all queues are
///       empty.  The last thread to announce decides it, under the lock.  It asks what is due
///       before it looks at the queues, since a process that was due is put first.  It decides
///       nothing if a thread has meanwhile left the list, or joined the backend: that one may have
///       taken what was due.
///   IDLE-5  Work that its thread will most likely do itself, and soon, wakes no thread if a
///       sleeping one is on watch.  That one looks at all queues again after a nap, and naps on if
///       there was such work meanwhile.  A thread that ends its watch says so, and looks after
///       that; if it has something to do, it wakes another one to look.
class idle_threads {
 public:
  enum class slept : std::uint8_t { not_at_all, until_woken, until_deadline };

  explicit idle_threads(unsigned threads) : monitors_(std::make_unique<monitor[]>(threads)) {
    list_.reserve(threads);
  }

  /// A thread joins before it takes anything, and leaves at its end.  When all have left,
  /// quiescence is reset.
  void join() noexcept {
    std::lock_guard const lock(mutex_);
    ++threads_;
    ++changes_;  // IDLE-4
  }
  void leave() noexcept {
    std::lock_guard const lock(mutex_);
    // Relaxed: no thread is left.
    if (--threads_ == 0) word_.fetch_and(~quiescent, std::memory_order_relaxed);
  }

  /// A hint: no thread sleeps.
  [[nodiscard]] bool no_thread_sleeps() const noexcept {
    return (word_.load(std::memory_order_relaxed) & ~watch_bits) == 0;  // relaxed: as below
  }
  /// A hint for a thread that does not sleep: only work from outside can give it something to do.
  [[nodiscard]] bool all_others_sleep() const noexcept {
    // Relaxed: a hint.  A run that is over counts as well.
    return (word_.load(std::memory_order_relaxed) & ~watch_bits) + 1 >=
           threads_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] bool is_over() const noexcept {
    return word_.load(std::memory_order_relaxed) >=
           quiescent;  // relaxed: threads are joined at the end
  }
  [[nodiscard]] thunk::reason why_over() const noexcept {
    return word_.load(std::memory_order_relaxed) >= stopped ? thunk::reason::stopped  // as above
                                                            : thunk::reason::quiescent;
  }

  /// Called after work was published.  Whether a thread sleeps that is to be woken.
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
      if (*at == on_watch_ && at != list_.begin()) --at;  // IDLE-5: that one sleeps on
      thread = *at;
      strike(at);
    }
    wake(thread);  // IDLE-3
  }
  /// Called after work was published that its thread will most likely do itself (IDLE-5).
  void request_watch() noexcept {
    // [2] seq_cst: pairs with [1], IDLE-2.
    unsigned const found = word_.load(std::memory_order_seq_cst);
    if ((found & count) == 0 || (found & watch_bits) == watch_bits) return;
    // Relaxed: the thread on watch looks at the queues anyway.
    if ((found & wanted) == 0) word_.fetch_or(wanted, std::memory_order_relaxed);
    if ((found & watched) == 0) wake_one();
  }
  /// Called after something was published that all threads must look at.
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
    // A thread can be woken while it is listed: late, for work that it had found by itself before.
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
      woken_.notify_one();  // without the lock, which the sleeper takes
    }
    /// False if the deadline passes first.
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
    // [4] relaxed: a thread that finds both bits set relies on the look after [5].
    word_.fetch_xor(watch_bits, std::memory_order_relaxed);
    on_watch_ = self;
    return true;
  }
  void end_watch() noexcept {
    std::lock_guard const lock(mutex_);
    on_watch_ = no_thread;
    // [5] seq_cst: as [1]; the looks at the queues come after it.
    word_.fetch_and(~watched, std::memory_order_seq_cst);
  }
  /// The thread that was on watch has something to do: there may be more than that.
  void request_another_watch() noexcept {
    word_.fetch_or(wanted, std::memory_order_relaxed);  // relaxed: the woken thread looks
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
    list_.push_back(self);  // IDLE-1: it runs, so it is not on the list
    // [1] seq_cst: pairs with [2], IDLE-2.
    word_.fetch_add(1, std::memory_order_seq_cst);
    return {false, list_.size() == threads_, ++changes_};
  }
  /// Ends the run if nothing has changed since (IDLE-4).  Returns whether it did.
  template <class AllAreEmpty>
  bool decide(std::uint64_t changes, AllAreEmpty all_are_empty) noexcept {
    std::lock_guard const lock(mutex_);
    if (changes_ != changes || !all_are_empty()) return false;
    end(quiescent);
    return true;
  }
  /// Leaves the list.  False if another thread has taken this one off.
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
    word_.fetch_sub(1, std::memory_order_relaxed);  // relaxed: a late reader takes the lock
  }
  void end(unsigned how) noexcept {
    word_.fetch_or(how, std::memory_order_relaxed);  // relaxed: the threads are woken after it
    strike_all();
  }
  void strike_all() noexcept {
    for (unsigned const thread : list_) wake(thread);
    // Relaxed: as above.
    word_.fetch_sub(static_cast<unsigned>(list_.size()), std::memory_order_relaxed);
    list_.clear();
    ++changes_;
  }

  std::unique_ptr<monitor[]> monitors_;
  std::mutex mutex_;
  std::vector<unsigned> list_;                  // IDLE-1; under mutex_, like changes_
  std::atomic<unsigned> threads_ = 0;           // written under mutex_
  unsigned on_watch_ = no_thread;               // IDLE-5; under mutex_
  std::uint64_t changes_ = 0;                   // how often the list, or threads_, has changed
  alignas(64) std::atomic<unsigned> word_ = 0;  // the length of the list, and flags
};

}  // namespace weft::detail
