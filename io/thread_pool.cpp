// SPDX-License-Identifier: MIT
#include "weft/io/thread_pool.hpp"

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "weft/io/blocking.hpp"
#include "weft/sched/base/detail/system_process.hpp"

namespace weft {

class thread_pool::inside {
 public:
  explicit inside(unsigned threads) {
    if (threads == 0)
      throw std::invalid_argument("weft: a thread_pool of no threads would run no job: 1 or more");
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

  [[nodiscard]] bool is_here() const noexcept { return home_.is_here(); }
  void add(std::unique_ptr<blocking_job> job) {
    home_.require("a thread_pool");
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
    }  // destroys the jobs one by one, without the mutex (JOB-2): a second deque would allocate
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
  std::deque<std::unique_ptr<blocking_job>> waiting_;  // guarded by mutex_ (JOB-1)
  bool is_over_ = false;                               // guarded by mutex_ (JOB-1)
  std::vector<std::thread> threads_;
  detail::system_process home_;
};

thread_pool::thread_pool(unsigned threads) : in_(std::make_unique<inside>(threads)) {}
thread_pool::thread_pool(thread_pool&& other) noexcept = default;
thread_pool& thread_pool::operator=(thread_pool&& other) noexcept = default;
thread_pool::~thread_pool() {
  // In a child, after fork(2), the threads are missing, and one of them may have held the lock: so
  // the pool is not destroyed.
  if (in_ && !in_->is_here()) [[maybe_unused]]
    static inside* const kept = in_.release();
}

void thread_pool::on(blocking::run r) { in_->add(std::move(r.job)); }

}  // namespace weft
