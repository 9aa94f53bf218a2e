// SPDX-License-Identifier: MIT
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "weft/effects/handle.hpp"
#include "weft/io/blocking.hpp"

namespace weft {

/// Handles `blocking` with a few threads of its own, which run jobs in the order of arrival.
///
///     thread_pool pool(4);
///     schedule(program, pool);   // borrowed; schedule(program, thread_pool(4)) keeps one
///
/// When not to use it: for computations; use a backend of several threads.  If jobs wait for one
/// another and outnumber the threads, they may never end.
///
/// The queue of jobs has no bound, but a process awaits one job at a time, so .max_processes bounds
/// it.  The destructor drops the jobs that have not begun, so that their waiters get
/// completion_dropped, and waits for those that run.
///
///   JOB-1  The queue, and the flag that the pool ends, are accessed under the mutex.
///   JOB-2  A job is taken out by one worker, which runs it, or by the destructor, which destroys
///       it.  Neither holds the mutex meanwhile: both wake waiters, and run destructors of the
///       program.
///
/// Thread safe, for any number of schedulers; move it only before its first use.  A job costs a
/// lock and a wake-up.
class thread_pool : public handler<blocking> {
 public:
  static constexpr bool thread_safe = true;

  /// Starts the threads.  Throws std::system_error if one cannot be started, std::invalid_argument
  /// if `threads` is 0, std::bad_alloc.
  explicit thread_pool(unsigned threads) : in_(std::make_unique<inside>(threads)) {}

  void on(blocking::run r) { in_->add(std::move(r.job)); }

 private:
  class inside {
   public:
    explicit inside(unsigned threads) {
      if (threads == 0)
        throw std::invalid_argument(
            "weft: a thread_pool of no threads would run no job: 1 or more");
      threads_.reserve(threads);
      try {
        for (unsigned i = 0; i != threads; ++i) threads_.emplace_back([this] { runs_jobs(); });
      } catch (...) {
        end();
        throw;
      }
    }
    inside(inside const&) = delete;
    inside& operator=(inside const&) = delete;
    ~inside() { end(); }

    void add(std::unique_ptr<blocking_job> job) {
      {
        std::lock_guard const lock(mutex_);
        waiting_.push_back(std::move(job));
      }
      changed_.notify_one();
    }

   private:
    void runs_jobs() noexcept {
      for (;;) {
        std::unique_ptr<blocking_job> job;
        {
          std::unique_lock lock(mutex_);
          changed_.wait(lock, [this] { return is_over_ || !waiting_.empty(); });
          if (is_over_) return;
          job = std::move(waiting_.front());
          waiting_.pop_front();
        }
        job->run();
      }
    }
    void end() noexcept {
      {
        std::lock_guard const lock(mutex_);
        is_over_ = true;
      }
      changed_.notify_all();
      while (std::unique_ptr<blocking_job> const dropped = next()) {
      }  // JOB-2; jobs are destroyed one by one, since another deque would allocate
      for (auto& t : threads_) t.join();
    }
    /// Takes the oldest job out of the queue; null if there is none.
    std::unique_ptr<blocking_job> next() noexcept {
      std::lock_guard const lock(mutex_);
      if (waiting_.empty()) return nullptr;
      auto job = std::move(waiting_.front());
      waiting_.pop_front();
      return job;
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::unique_ptr<blocking_job>> waiting_;  // under mutex_ (JOB-1)
    bool is_over_ = false;                               // under mutex_ (JOB-1)
    std::vector<std::thread> threads_;
  };

  std::unique_ptr<inside> in_;
};

}  // namespace weft
