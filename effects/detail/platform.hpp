// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <limits>
#if defined(_WIN32)
#include <atomic>
#else
#include <mutex>
#endif

/// The code that depends on the operating system or the processor, outside of io/.  If a system
/// lacks a feature, the function here returns so, and its callers do without.  docs/portability.md
/// tells how weft is ported.
namespace weft::detail {

/// The native stack: the bytes that are left of it, and its size.  If the system does not tell,
/// `left` is the maximum of its type.
struct native_stack {
  std::size_t left = std::numeric_limits<std::size_t>::max();
  std::size_t size = 0;
};
[[nodiscard]] native_stack look_at_stack() noexcept;

/// Whether interrupt_threads() works.  The first call registers this process of the system for it;
/// the result never changes.  Linux has it from 4.14 on, unless it is forbidden to this process.
[[nodiscard]] bool can_interrupt_threads() noexcept;
/// Makes each other running thread of this process of the system execute a full fence.  False if
/// the system refuses.
[[nodiscard]] bool interrupt_threads() noexcept;

/// The number of fork() calls, since this function was first called, that led to this process of
/// the system: a child finds one more than its parent.  vfork and clone do not count.  Thread safe.
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
    // Acquire: pairs with [1] in unlock().  Relaxed, in wait(): the exchange looks again.
    while (is_locked_.exchange(true, std::memory_order_acquire))
      is_locked_.wait(true, std::memory_order_relaxed);
  }
  void unlock() noexcept {
    is_locked_.store(false, std::memory_order_release);  // [1] release: pairs with lock() above
    is_locked_.notify_one();
  }

 private:
  std::atomic<bool> is_locked_ = false;
};
#else
using static_mutex = std::mutex;
#endif

}  // namespace weft::detail
