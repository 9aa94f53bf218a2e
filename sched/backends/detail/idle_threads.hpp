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

/// Threads of a backend that found nothing to do; and the decision that there will be nothing.
///
///   IDLE-1  The list is locked, and nobody is on it twice (docs/models, DEFECT-7).
///   IDLE-2  Who sleeps announces it, then looks at all queues; who puts work into a queue publishes
///       it, then looks whether somebody sleeps (DEFECT-8).  The announcement [1] and the look [2], the
///       claim of the queue and the look at it (thread_queue.hpp, [1] and [3]) are all seq_cst, or
///       there are fences in between (chase_lev.hpp, STEAL-7): in their one order either the sleeper's
///       look comes after the work, or the other's look comes after the announcement.
///   IDLE-3  Who is taken off the list is woken, always.
///   IDLE-4  The run is over when every thread is on the list, nothing is due and all queues are empty.
///       The last one to announce decides it, under the lock, and asks what is due before it looks
///       at the queues: who was due puts first.  It decides nothing if somebody has left the list
///       meanwhile, or has come: that one may have taken what was due.
///   IDLE-5  Work that its thread will most likely do itself, and soon, wakes nobody if somebody who
///       sleeps is on watch: that one looks again after a nap, at all queues, and naps on if there
///       was such work again meanwhile.  Who is no longer on watch says so, and looks after that;
///       and wakes another one to look, if it has something to do.
class idle_threads {
 public:
  enum class slept : std::uint8_t { not_at_all, until_woken, until_deadline };

  explicit idle_threads(unsigned threads) : monitors_(std::make_unique<monitor[]>(threads)) {
    list_.reserve(threads);
  }

  /// A thread comes, before it takes anything; or goes.  When all have gone what was dry may begin
  /// anew.
  void join() noexcept {
    std::lock_guard const lock(mutex_);
    ++threads_;
    ++changes_;  // IDLE-4
  }
  void leave() noexcept {
    std::lock_guard const lock(mutex_);
    // Relaxed: nobody is there.
    if (--threads_ == 0) word_.fetch_and(~quiescent, std::memory_order_relaxed);
  }

  /// A hint.
  [[nodiscard]] bool nobody_sleeps() const noexcept {
    return (word_.load(std::memory_order_relaxed) & ~watch_bits) == 0;  // relaxed: as below
  }
  /// A hint, for one that does not: whether only what comes from outside can give it work.
  [[nodiscard]] bool all_others_sleep() const noexcept {
    // Relaxed: it is; over counts as well.
    return (word_.load(std::memory_order_relaxed) & ~watch_bits) + 1 >=
           threads_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] bool is_over() const noexcept {
    return word_.load(std::memory_order_relaxed) >=
           quiescent;  // relaxed: threads meet when they end
  }
  [[nodiscard]] thunk::reason why_over() const noexcept {
    return word_.load(std::memory_order_relaxed) >= stopped ? thunk::reason::stopped  // as above
                                                            : thunk::reason::quiescent;
  }

  /// There is work, and it is published: whether somebody sleeps, who is to be woken.
  [[nodiscard]] bool is_to_wake() const noexcept {
    // [2] seq_cst: IDLE-2.
    return (word_.load(std::memory_order_seq_cst) & count) != 0;
  }
  /// There is work, and it is published.
  void wake_one() noexcept {
    if (!is_to_wake()) return;
    unsigned who = 0;
    {
      std::lock_guard const lock(mutex_);
      if (list_.empty()) return;
      auto at = list_.end() - 1;
      if (*at == on_watch_ && at != list_.begin()) --at;  // IDLE-5: that one stays
      who = *at;
      strike(at);
    }
    wake(who);  // IDLE-3
  }
  /// There is work, published, that its thread will most likely do itself (IDLE-5).
  void request_watch() noexcept {
    // [2] seq_cst: IDLE-2.
    unsigned const found = word_.load(std::memory_order_seq_cst);
    if ((found & count) == 0 || (found & watch_bits) == watch_bits) return;
    // Relaxed: who is on watch looks at the queues anyway.
    if ((found & wanted) == 0) word_.fetch_or(wanted, std::memory_order_relaxed);
    if ((found & watched) == 0) wake_one();
  }
  /// What all of them are to look at is published.
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

  /// Until there may be work, or it is over.
  template <class AllAreEmpty>
  slept sleep(unsigned self, instant until, quiescence_test dry_now, AllAreEmpty all_are_empty) {
    monitor& m = monitors_[self];
    m.forget();
    announced const a = announce(self);
    if (a.is_over) return slept::not_at_all;
    // What is due is asked without the lock: the answer may be to put something.
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
      is_watched_by_another();
      return was_listed && nap == until ? slept::until_deadline : slept::until_woken;
    }
    bool const is_woken = m.wait(until);
    // Listed also if it was woken for what it had found by itself before, and has come again.
    return withdraw(self) && !is_woken ? slept::until_deadline : slept::until_woken;
  }

 private:
  static constexpr unsigned stopped = 1U << 31;
  static constexpr unsigned quiescent = 1U << 30;
  static constexpr unsigned wanted = 1U << 29;   // there was work to be watched since the last nap
  static constexpr unsigned watched = 1U << 28;  // somebody is on watch
  static constexpr unsigned watch_bits = wanted | watched;
  static constexpr unsigned count = watched - 1;
  static constexpr unsigned nobody = ~0U;
  static constexpr auto nap_time = std::chrono::milliseconds(10);

  /// Where a thread sleeps.  A cache line of its own.
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
      woken_.notify_one();  // without the lock, which it will want
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

  void wake(unsigned who) noexcept { monitors_[who].wake(); }
  /// If somebody is wanted on watch, and nobody is (IDLE-5).
  [[nodiscard]] bool try_watch(unsigned self) noexcept {
    std::lock_guard const lock(mutex_);
    unsigned const found = word_.load(std::memory_order_relaxed);  // relaxed: [4] makes sure
    if ((found & watch_bits) != wanted) return false;
    // [4] relaxed: who finds both set leaves it to the look that comes after [5].
    word_.fetch_xor(watch_bits, std::memory_order_relaxed);
    on_watch_ = self;
    return true;
  }
  void end_watch() noexcept {
    std::lock_guard const lock(mutex_);
    on_watch_ = nobody;
    // [5] seq_cst: as [1]; the looks at the queues come after it.
    word_.fetch_and(~watched, std::memory_order_seq_cst);
  }
  /// Who was on watch has something to do: there may be more than that.
  void is_watched_by_another() noexcept {
    word_.fetch_or(wanted, std::memory_order_relaxed);  // relaxed: who is woken looks
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
    list_.push_back(self);  // IDLE-1: it is not on it, since it runs
    // [1] seq_cst: IDLE-2.
    word_.fetch_add(1, std::memory_order_seq_cst);
    return {false, list_.size() == threads_, ++changes_};
  }
  /// Whether it is over, if nothing has changed since then (IDLE-4).
  template <class AllAreEmpty>
  bool decide(std::uint64_t changes, AllAreEmpty all_are_empty) noexcept {
    std::lock_guard const lock(mutex_);
    if (changes_ != changes || !all_are_empty()) return false;
    end(quiescent);
    return true;
  }
  /// Leaves the list.  False if somebody has taken it off.
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
    word_.fetch_sub(1, std::memory_order_relaxed);  // relaxed: who sees it late takes the lock
  }
  void end(unsigned how) noexcept {
    word_.fetch_or(how, std::memory_order_relaxed);  // relaxed: they are woken after it
    strike_all();
  }
  void strike_all() noexcept {
    for (unsigned const who : list_) wake(who);
    // Relaxed: as above.
    word_.fetch_sub(static_cast<unsigned>(list_.size()), std::memory_order_relaxed);
    list_.clear();
    ++changes_;
  }

  std::unique_ptr<monitor[]> monitors_;
  std::mutex mutex_;
  std::vector<unsigned> list_;         // IDLE-1; under mutex_, like changes_
  std::atomic<unsigned> threads_ = 0;  // written under mutex_
  unsigned on_watch_ = nobody;         // IDLE-5; under mutex_
  std::uint64_t changes_ = 0;          // of the list, and of those who may be on it, so far
  alignas(64) std::atomic<unsigned> word_ = 0;  // how many are on the list, and how it is over
};

}  // namespace weft::detail
