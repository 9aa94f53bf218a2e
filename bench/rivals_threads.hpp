// SPDX-License-Identifier: MIT
#pragma once

#include <condition_variable>
#include <coroutine>
#include <cstddef>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

#include "bench/rivals_ring.hpp"

/// Hand-written multi-threading with the standard library: the rivals of `sharing`.
namespace weft::bench {

/// Coroutines that take turns on two threads: one queue, one lock.
///
/// Written as well as possible.  Yielding takes the lock once, to enqueue itself and to dequeue the
/// next coroutine, and jumps there: returning to a loop, which takes the lock again, costs at least
/// twice as much.  A notification is sent only if a thread needs it.
class locked_queue {
 public:
  /// `n` coroutines will be started.
  explicit locked_queue(std::size_t n) : left_(n) {}

  void start(pooled_coroutine process) {
    {
      std::lock_guard const lock(mutex_);
      ready_.push_back(process.frame);
    }
    changed_.notify_one();
  }
  /// Enqueues the running coroutine.  Another thread may resume and end its frame as soon as the
  /// lock is released.
  std::coroutine_handle<> yield(std::coroutine_handle<> running) {
    std::lock_guard const lock(mutex_);
    ready_.push_back(running);
    return take();
  }
  /// To be called last by each coroutine.
  void leave() {
    {
      std::lock_guard const lock(mutex_);
      if (--left_ != 0) return;
    }
    changed_.notify_all();
  }
  /// Runs on this thread and another one, until all coroutines have left.
  void run() {
    std::thread other([this] { work(); });
    work();
    other.join();
  }

 private:
  std::coroutine_handle<> take() {
    auto const first = ready_.front();
    ready_.pop_front();
    return first;
  }
  void work() {
    for (;;) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return !ready_.empty() || left_ == 0; });
      if (ready_.empty()) return;
      auto const next = take();
      lock.unlock();
      next.resume();  // returns when one of them ends
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::coroutine_handle<>> ready_;  // guarded by mutex_
  std::size_t left_;                           // guarded by mutex_
};

/// A place for one value, at which one thread waits.
template <class T>
class letter_box {
 public:
  void put(T v) {
    {
      std::lock_guard const lock(mutex_);
      value_ = std::move(v);
      is_full_ = true;
    }
    filled_.notify_one();  // after the unlock, so that the woken thread does not find it locked
  }
  T wait() {
    std::unique_lock lock(mutex_);
    filled_.wait(lock, [this] { return is_full_; });
    is_full_ = false;
    return std::move(value_);
  }

 private:
  std::mutex mutex_;
  std::condition_variable filled_;
  bool is_full_ = false;  // guarded by mutex_
  T value_{};             // guarded by mutex_
};

}  // namespace weft::bench
