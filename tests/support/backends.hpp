// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <new>
#include <utility>

#include "weft/sched/backends/sharing.hpp"
#include "weft/sched/backends/stealing.hpp"
#include "weft/sched/base/backend.hpp"
#include "weft/sched/runtime/detail/backend_scheduler.hpp"

namespace weft::tests {

enum class order { oldest_first, newest_first };

/// The simplest backend that keeps the laws: a std::deque under a lock.
template <order Order>
class locked {
 public:
  static constexpr unsigned wakes = 1;

  class worker {
   public:
    worker(locked& home, unsigned) noexcept : home_(home) {}
    void put(thunk&& t, put_reason w) { home_.put(std::move(t), w); }
    thunk take(instant until, quiescence_test quiescent) {
      for (;;) {
        // Before the look at ready_: an event that is due puts its process first.
        bool const nothing_is_due = quiescent();
        std::unique_lock lock(home_.mutex_);
        if (home_.stopped_) return thunk::reason::stopped;
        if (!home_.ready_.empty()) return home_.next();
        if (nothing_is_due) return thunk::reason::quiescent;
        auto const news = [this] { return !home_.ready_.empty() || home_.stopped_; };
        if (until == instant::max())
          home_.arrived_.wait(lock, news);
        else if (!home_.arrived_.wait_until(lock, until, news))
          return thunk::reason::deadline;
      }
    }

   private:
    locked& home_;
  };

  void put(thunk&& t, put_reason) {
    std::lock_guard const lock(mutex_);
    ready_.push_back(std::move(t));
    arrived_.notify_one();
  }
  thunk claim(process* p) {
    std::lock_guard const lock(mutex_);
    auto const it = std::ranges::find(ready_, p, &thunk::get);
    if (it == ready_.end()) return thunk::reason::quiescent;
    thunk t = std::move(*it);
    ready_.erase(it);
    return t;
  }
  void stop() {
    std::lock_guard const lock(mutex_);
    stopped_ = true;
    arrived_.notify_one();
  }

 private:
  thunk next() {
    if constexpr (Order == order::newest_first) {
      thunk t = std::move(ready_.back());
      ready_.pop_back();
      return t;
    } else {
      thunk t = std::move(ready_.front());
      ready_.pop_front();
      return t;
    }
  }

  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<thunk> ready_;
  bool stopped_ = false;
};
using locked_queue = locked<order::oldest_first>;
using locked_stack = locked<order::newest_first>;
static_assert(backend<locked_queue> && backend<locked_stack>);

/// A sharing backend with so many threads.
template <unsigned Threads>
class sharing_among : public sharing {
 public:
  sharing_among() : sharing({.threads = Threads}) {}
};
using sharing_alone = sharing_among<1>;
template <unsigned Threads>
class stealing_among : public stealing {
 public:
  stealing_among() : stealing({.threads = Threads}) {}
};
using stealing_alone = stealing_among<1>;
static_assert(backend<sharing_alone> && backend<stealing_alone>);

/// A backend whose n-th put, or n-th take, throws bad_alloc.  Counted from one; never, if zero.
class fails_once {
 public:
  static constexpr unsigned wakes = 1;
  explicit fails_once(int put, int take = 0) noexcept : put_(put), take_(take) {}

  class worker {
   public:
    worker(fails_once& home, unsigned) noexcept : home_(home) {}
    void put(thunk&& t, put_reason) {
      if (--home_.put_ == 0) throw std::bad_alloc();
      ready_.push_back(std::move(t));
    }
    thunk take(instant, quiescence_test) {
      if (--home_.take_ == 0) throw std::bad_alloc();
      if (ready_.empty()) return thunk::reason::quiescent;
      thunk t = std::move(ready_.front());
      ready_.pop_front();
      return t;
    }

   private:
    fails_once& home_;
    std::deque<thunk> ready_;
  };
  void put(thunk, put_reason) {}
  thunk claim(process*) { return thunk::reason::quiescent; }
  void stop() {}

 private:
  int put_;
  int take_;
};
static_assert(backend<fails_once>);

}  // namespace weft::tests

namespace weft::detail {

// Compiled once, by backends.cpp.
extern template class backend_scheduler<tests::locked_queue>;
extern template class backend_scheduler<tests::locked_stack>;
extern template class backend_scheduler<tests::sharing_among<1>>;
extern template class backend_scheduler<tests::sharing_among<2>>;
extern template class backend_scheduler<tests::stealing_among<1>>;
extern template class backend_scheduler<tests::stealing_among<2>>;

}  // namespace weft::detail
