// SPDX-License-Identifier: MIT
#pragma once

#include <thread>

#include "weft/effects/detail/platform.hpp"

namespace weft::detail {

/// One call is one pause in a loop that waits for a few instructions of another thread: a short
/// pause, and after a few microseconds a yield to the system, since that thread may not be running.
class relax {
 public:
  void operator()() noexcept {
    if (times_ == most) return std::this_thread::yield();
    pause_for(2);
    ++times_;
  }

 private:
  static constexpr unsigned most = 100;

  unsigned times_ = 0;
};

}  // namespace weft::detail
