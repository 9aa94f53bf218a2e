// SPDX-License-Identifier: MIT
#include "weft/effects/detail/platform.hpp"

#include <atomic>
#include <cstdint>
#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif
#if __has_include(<sys/syscall.h>)
#include <sys/syscall.h>
#endif
#if __has_include(<unistd.h>)
#include <unistd.h>
#endif

namespace weft::detail {

namespace {
#if defined(__unix__) || defined(__APPLE__)
std::atomic<unsigned> forks = 0;
#endif
}  // namespace

unsigned forks_so_far() noexcept {
#if defined(__unix__) || defined(__APPLE__)
  [[maybe_unused]] static int const listens = ::pthread_atfork(nullptr, nullptr, []() noexcept {
    forks.fetch_add(1, std::memory_order_relaxed);  // relaxed: the child has one thread
  });
  return forks.load(std::memory_order_relaxed);  // relaxed: only a child with one thread writes it
#else
  return 0;
#endif
}

[[gnu::cold, gnu::noinline]] native_stack look_at_stack() noexcept {
  native_stack found;
#if defined(__GLIBC__)
  pthread_attr_t attributes;
  if (::pthread_getattr_np(::pthread_self(), &attributes) != 0) return found;
  void* lowest = nullptr;
  std::size_t size = 0;
  bool const is_known = ::pthread_attr_getstack(&attributes, &lowest, &size) == 0;
  ::pthread_attr_destroy(&attributes);
  std::uintptr_t const left = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) -
                              reinterpret_cast<std::uintptr_t>(lowest);
  if (is_known && left < size) found = {left, size};  // else this is not the stack of the thread
#endif
  return found;
}

namespace {
/// Commands of the system call membarrier: the private expedited fence, and the registration for
/// it.  Older versions of linux/membarrier.h lack them.
enum class membarrier { fence = 1 << 3, begin = 1 << 4 };

[[nodiscard]] bool call([[maybe_unused]] membarrier command) noexcept {
#ifdef SYS_membarrier
  return ::syscall(SYS_membarrier, static_cast<int>(command), 0U, 0) == 0;
#else
  return false;
#endif
}
}  // namespace

bool can_interrupt_threads() noexcept {
  static bool const can = call(membarrier::begin);
  return can;
}
bool interrupt_threads() noexcept {
  if (call(membarrier::fence)) [[likely]]
    return true;
  // A process of the system that was checkpointed, and restored elsewhere, has to register again.
  return call(membarrier::begin) && call(membarrier::fence);
}

bool is_error_terminal() noexcept {
#if __has_include(<unistd.h>)
  return ::isatty(2) == 1;
#else
  return false;
#endif
}

}  // namespace weft::detail
