// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

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
/// The queue of jobs has no bound of its own, but a process awaits one job at a time: so
/// .max_processes bounds the queue, except for jobs of off_thread_detached whose callers were
/// cancelled.  The destructor drops the jobs that have not begun, so that their waiters get
/// completion_dropped, and waits for those that run.
///
///   JOB-1  The queue, and the flag that the pool ends, are accessed under the mutex.
///   JOB-2  A job is taken out by one worker, which runs it, or by the destructor, which destroys
///       it.  Neither holds the mutex meanwhile: both wake waiters, and run destructors of the
///       program.
///
/// Thread safe, for any number of schedulers; move it only before its first use.
///
/// Costs a lock and a wake-up for each job; allocates as its queue grows.
class thread_pool : public handler<blocking> {
 public:
  static constexpr bool thread_safe = true;

  /// Starts the threads.  Throws std::system_error if one cannot be started, std::invalid_argument
  /// if `threads` is 0, std::bad_alloc.
  explicit thread_pool(unsigned threads);
  thread_pool(thread_pool&& other) noexcept;
  thread_pool& operator=(thread_pool&& other) noexcept;
  ~thread_pool();

  void on(blocking::run r);

 private:
  class inside;
  std::unique_ptr<inside> in_;
};

}  // namespace weft
