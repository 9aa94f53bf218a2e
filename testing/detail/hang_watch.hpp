// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

namespace weft::detail {

/// Reports once if no run of a search has begun for some time: a step that waits without an
/// operation, such as for a std::mutex that another process holds, never ends, and no limit of the
/// search is checked within a step.
class hang_watch {
 public:
  using duration = std::chrono::nanoseconds;
  static constexpr duration usual_patience = std::chrono::seconds(10);

  /// Starts a thread, which calls `says()` if no run begins within `patience`.
  hang_watch(duration patience, std::function<void()> says);
  hang_watch(hang_watch const&) = delete;
  hang_watch& operator=(hang_watch const&) = delete;
  ~hang_watch();

  /// Called on any thread when a run begins.
  void note_run() noexcept {
    runs_.fetch_add(1, std::memory_order_relaxed);  // relaxed: the count publishes no other data
  }
  /// The usual `says`: writes the report to stderr.
  static void say();

 private:
  void watch(duration patience, std::function<void()> const& says);

  std::atomic<std::uint64_t> runs_ = 0;
  std::mutex mutex_;
  std::condition_variable ends_;
  bool is_over_ = false;
  std::thread thread_;
};

}  // namespace weft::detail
