// SPDX-License-Identifier: MIT
#include "weft/testing/detail/hang_watch.hpp"

#include <cstdint>
#include <cstdio>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace weft::detail {

hang_watch::hang_watch(duration patience, std::function<void()> says) {
  try {
    thread_ = std::thread([this, patience, what = std::move(says)] { watch(patience, what); });
  } catch (std::system_error const&) {  // no thread can be started: nothing is reported
  }
}
hang_watch::~hang_watch() {
  {
    std::lock_guard const lock(mutex_);
    is_over_ = true;
  }
  ends_.notify_one();
  if (thread_.joinable()) thread_.join();
}
void hang_watch::watch(duration patience, std::function<void()> const& says) {
  std::unique_lock lock(mutex_);
  for (std::uint64_t before = 0;;) {
    if (ends_.wait_for(lock, patience, [this] { return is_over_; })) return;
    // Relaxed: the count publishes no other data.
    std::uint64_t const now = runs_.load(std::memory_order_relaxed);
    if (now == before) return says();
    before = now;
  }
}
void hang_watch::say() {
  std::fputs(
      "weft: a schedule has been running for more than ten seconds: a step of it seems to wait for "
      "something that is no operation, such as a std::mutex; use weft::mutex\n",
      stderr);
}

}  // namespace weft::detail
