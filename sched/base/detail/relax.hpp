// SPDX-License-Identifier: MIT
#pragma once

#include <thread>

namespace weft::detail {

/// Pauses for a few cycles, which leaves more of the core to its other hardware thread.
inline void pause_for(unsigned times) noexcept {
  for (unsigned i = 0; i != times; ++i) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }
}

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
