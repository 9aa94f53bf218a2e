// SPDX-License-Identifier: MIT
#pragma once

#include <thread>
#include <utility>

#include "tests/support/threads.hpp"
#include "weft/sched/schedule.hpp"

/// For tests of schedulers that other threads use while they run.
namespace weft::tests {

/// A scheduler that is not started.
template <class Where>
scheduler<typename Where::backend> scheduler_on() {
  using backend = typename Where::backend;
  if constexpr (configurable_backend<backend>)
    return scheduler<backend>(Where::how());
  else
    return scheduler<backend>();
}

/// A deadline that has passed, and one that never will.
inline constexpr instant passed = instant::min();
inline constexpr instant far_away = instant::max();

/// Runs a scheduler on a thread of its own, to its end.
template <class Scheduler>
class run_apart {
 public:
  explicit run_apart(Scheduler& s) : thread_([this, &s] { run(s); }) {}
  run_apart(run_apart const&) = delete;
  run_apart& operator=(run_apart const&) = delete;
  ~run_apart() {
    if (thread_.joinable()) thread_.join();
  }
  /// Waits for the end of the run, and throws its exception.
  void join() {
    thread_.join();
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  }

 private:
  void run(Scheduler& s) noexcept {
    try {
      s.run();
    } catch (...) {
      error_ = std::current_exception();
    }
  }
  std::exception_ptr error_;
  std::thread thread_;
};

}  // namespace weft::tests
