// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <utility>
#include <vector>

#include "sched/backend.hpp"

namespace weft::detail {

/// What other threads put for the one worker of a backend, who looks now and then: laws B1, B3 and
/// B5 of a backend whose queue belongs to one thread.
class inbox {
 public:
  void put(thunk&& t) {
    {
      std::lock_guard const lock(mutex_);
      waiting_.push_back(std::move(t));
      // Relaxed [1]: a worker that does not see it yet sees it at a later take, and before it
      // sleeps it looks under the lock.
      has_news_.store(true, std::memory_order_relaxed);
    }
    arrived_.notify_one();
  }
  void stop() {
    {
      std::lock_guard const lock(mutex_);
      stopped_ = true;
      has_news_.store(true, std::memory_order_relaxed);  // as in put
    }
    arrived_.notify_one();
  }

  // ---- the worker's; `queue.put_in(thunk&&)` takes what came, `queue.is_empty()` is asked

  /// Whether it is worth looking: a hint.
  [[nodiscard]] bool has_news() const noexcept {
    return has_news_.load(std::memory_order_relaxed);  // [1]; fetch() looks under the lock
  }
  /// Fetches what came.  False if that is the end.
  template <class Queue>
  bool fetch(Queue& queue) {
    std::lock_guard const lock(mutex_);
    auto const first = waiting_.begin();
    auto it = first;
    try {
      for (; it != waiting_.end(); ++it) queue.put_in(std::move(*it));
    } catch (...) {
      waiting_.erase(first, it);  // the others wait for the next time
      throw;
    }
    waiting_.clear();
    has_news_.store(stopped_, std::memory_order_relaxed);  // the lock orders it
    return !stopped_;
  }
  struct waited {
    bool has_come;
    thunk::nothing why_not;
  };
  /// Until something is in the queue, or there is a reason why not.
  template <class Queue>
  [[gnu::noinline]] waited wait(Queue& queue, instant until, dry_test dry) {
    for (;;) {
      bool const nothing_is_due = dry();  // before we look: who was due puts first
      if (!fetch(queue)) return {false, thunk::nothing::stopped};
      if (!queue.is_empty()) return {true, thunk::nothing::dry};
      if (nothing_is_due) return {false, thunk::nothing::dry};

      std::unique_lock lock(mutex_);
      auto const news = [this] { return !waiting_.empty() || stopped_; };
      if (until == instant::max())
        arrived_.wait(lock, news);
      else if (!arrived_.wait_until(lock, until, news))
        return {false, thunk::nothing::deadline};
    }
  }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::vector<thunk> waiting_;  // guarded by mutex_
  bool stopped_ = false;        // guarded by mutex_
  std::atomic<bool> has_news_ = false;
};

}  // namespace weft::detail
