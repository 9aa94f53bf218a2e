// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <limits>
#if defined(_WIN32)
#include <atomic>
#else
#include <mutex>
#endif

/// Whatever depends on the operating system or the processor, outside of io/.  If a system lacks
/// something, the answer here says so, and its callers do without.  docs/portability.md says what a
/// port takes.
namespace weft::detail {

/// The native stack: how much of it is left, and its size.  `left` is the maximum if unknown.
struct native_stack {
  std::size_t left = std::numeric_limits<std::size_t>::max();
  std::size_t size = 0;
};
[[nodiscard]] native_stack look_at_stack() noexcept;

/// Whether interrupt_threads() works.  The first call registers the process for it; the result
/// never changes.  Linux has it from 4.14 on, unless it is forbidden to this process.
[[nodiscard]] bool can_interrupt_threads() noexcept;
/// Has each other running thread of the process execute a full fence.  False if the system refuses.
[[nodiscard]] bool interrupt_threads() noexcept;

/// How often fork() has made this process of the system, since the first call.  vfork and clone are
/// not noticed.  Thread safe.
[[nodiscard]] unsigned forks_so_far() noexcept;

/// Whether the standard error goes to a terminal.
[[nodiscard]] bool is_error_terminal() noexcept;

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

/// A mutex that exists before all constructors run, and after all destructors.
#if defined(_WIN32)
class static_mutex {  // a std::mutex of winpthreads is not constexpr
 public:
  void lock() noexcept {
    // Acquire: pairs with the release in unlock(), as in [1].  Relaxed: the exchange looks again.
    while (is_locked_.exchange(true, std::memory_order_acquire))
      is_locked_.wait(true, std::memory_order_relaxed);
  }
  void unlock() noexcept {
    is_locked_.store(false, std::memory_order_release);  // [1] release: pairs with lock()
    is_locked_.notify_one();
  }

 private:
  std::atomic<bool> is_locked_ = false;
};
#else
using static_mutex = std::mutex;
#endif

}  // namespace weft::detail
