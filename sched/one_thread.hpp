// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "deque/persistent_deque.hpp"
#include "sched/backend.hpp"

namespace weft {

/// The default backend: one thread, one persistent deque, the longest waiting first.
/// Deterministic.
///
/// What other threads put goes to a small inbox, and into the deque when the worker looks: at the
/// next take.
class one_thread {
 public:
  /// A thunk may own a version of the queue it stands in: a process that keeps a checkpoint.
  using queue = persistent_deque<thunk, deque_policy<plain_counts, heap_memory, 512, true>>;
  static constexpr unsigned wakes = 1;

  class worker {
   public:
    worker(one_thread& home, unsigned) noexcept : home_(home) {}

    [[gnu::always_inline]] void put(thunk&& t, why) {
      // Moved, not built from its two words: without memory for it those would have been a thunk
      // already, and dropped, and so the process.
      ready_.push_front(std::move(t));
    }
    [[nodiscard, gnu::always_inline]] bool can_exchange() const noexcept {
      return !home_.has_news_.load(std::memory_order_relaxed) &&  // [1]
             ready_.can_rotate_in_place();
    }
    [[gnu::always_inline]] thunk exchange(thunk t) noexcept {
      std::uint64_t const answer = t.answer();
      return ready_.rotate_in_place(t.release(), answer);
    }
    /// O(1).  Allocates nothing unless a version of the queue is kept.
    [[gnu::always_inline]] thunk take(instant until, dry_test dry) {
      if (home_.has_news_.load(std::memory_order_relaxed)) [[unlikely]]  // [1], re-read by listen
        if (!listen()) return thunk::nothing::stopped;
      if (ready_.empty()) [[unlikely]]
        if (auto const nothing = wait(until, dry); !nothing.has) return nothing.why;
      return ready_.pop_back();
    }

    /// What is ready, as a value: a version.  O(1).
    [[nodiscard]] queue const& ready() const noexcept { return ready_; }
    void ready(queue q) noexcept { ready_ = std::move(q); }

   private:
    struct waited {
      bool has;
      thunk::nothing why;
    };
    /// Fetches what came.  False if that is the end.
    bool listen() {
      std::lock_guard const lock(home_.mutex_);
      auto const first = home_.inbox_.begin();
      auto it = first;
      try {
        for (; it != home_.inbox_.end(); ++it) ready_.push_front(std::move(*it));
      } catch (...) {
        home_.inbox_.erase(first, it);  // the others wait for the next time
        throw;
      }
      home_.inbox_.clear();
      home_.has_news_.store(home_.stopped_, std::memory_order_relaxed);  // the lock orders it
      return !home_.stopped_;
    }
    [[gnu::noinline]] waited wait(instant until, dry_test dry) {
      for (;;) {
        bool const nothing_is_due = dry();  // before we look: who was due puts first
        if (!listen()) return {false, thunk::nothing::stopped};
        if (!ready_.empty()) return {true, thunk::nothing::dry};
        if (nothing_is_due) return {false, thunk::nothing::dry};

        std::unique_lock lock(home_.mutex_);
        auto const news = [this] { return !home_.inbox_.empty() || home_.stopped_; };
        if (until == instant::max())
          home_.arrived_.wait(lock, news);
        else if (!home_.arrived_.wait_until(lock, until, news))
          return {false, thunk::nothing::deadline};
      }
    }

    one_thread& home_;
    queue ready_;
  };

  one_thread() = default;
  one_thread(one_thread const&) = delete;
  one_thread& operator=(one_thread const&) = delete;

  void put(thunk t, why) {
    {
      std::lock_guard const lock(mutex_);
      inbox_.push_back(std::move(t));
      // Relaxed [1]: a worker that does not see it yet sees it at a later take, and before it
      // sleeps it looks under the lock.
      has_news_.store(true, std::memory_order_relaxed);
    }
    arrived_.notify_one();
  }
  /// Always no: it would be O(n).
  bool claim(process*) noexcept { return false; }
  void stop() {
    {
      std::lock_guard const lock(mutex_);
      stopped_ = true;
      has_news_.store(true, std::memory_order_relaxed);  // as in put
    }
    arrived_.notify_one();
  }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::vector<thunk> inbox_;  // guarded by mutex_
  bool stopped_ = false;      // guarded by mutex_
  std::atomic<bool> has_news_ = false;
};
static_assert(backend<one_thread>);

}  // namespace weft
