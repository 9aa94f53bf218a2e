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

#include "effects/handle.hpp"
#include "io/blocking.hpp"

namespace weft {

/// Handles blocking by a few threads of its own, which run jobs in the order in which they come.
///
///     thread_pool pool(4);
///     schedule(program, pool);   // borrowed; schedule(program, thread_pool(4)) keeps one
///
/// Not for work that computes: that is what a backend of several threads is for.  Jobs that wait
/// for one another, and are more than the threads, wait for ever.
///
/// Any number of jobs wait for a thread, but of a process that awaits them one: who limits the
/// processes (.max_processes) limits them.  When it is destroyed, jobs that have not begun are
/// dropped, so that who waits finds completion_dropped; those that run are waited for.
///
///   JOB-1  What waits, and whether the pool ends, are touched under the mutex.
///   JOB-2  A job is taken out by one thread, which runs it; or by who ends the pool, who destroys it.
///       Neither holds the mutex then: both wake who waits, and destroy what is his.
///
/// Thread safe, for any number of schedulers; it is moved before anybody uses it.  A lock a job,
/// and a wakeup.
class thread_pool : public handler<blocking> {
 public:
  static constexpr bool thread_safe = true;

  /// So many threads, one or more, which are started here.  Throws std::system_error if one of them
  /// cannot be; std::invalid_argument if there is to be none; std::bad_alloc.
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
      }  // JOB-2; another deque would have to be allocated
      for (auto& t : threads_) t.join();
    }
    /// Null if none waits.
    std::unique_ptr<blocking_job> next() noexcept {
      std::lock_guard const lock(mutex_);
      if (waiting_.empty()) return nullptr;
      auto job = std::move(waiting_.front());
      waiting_.pop_front();
      return job;
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::unique_ptr<blocking_job>> waiting_;  // JOB-1
    bool is_over_ = false;                               // JOB-1
    std::vector<std::thread> threads_;
  };

  std::unique_ptr<inside> in_;
};

}  // namespace weft
