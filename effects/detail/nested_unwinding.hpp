// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <limits>
#if defined(__GLIBC__)
#include <pthread.h>
#endif

/// Unwinding that begins inside another one: a destructor in a frame drops a resumption, or ends a
/// region.
///
///   NEST-1  The dropped continuation may refer to an object that is destroyed right after the
///       resumption which owns the continuation, such as a local declared before that resumption.
///       So the continuation is unwound before the destructor returns.  Since C++ cannot suspend a
///       destructor, each nested unwinding takes native stack.
///   NEST-2  The program ends with a message before the stack is used up.
namespace weft::detail {

/// The native stack: how much of it is left, and its size.  `left` is the maximum if unknown.
struct native_stack {
  std::size_t left = std::numeric_limits<std::size_t>::max();
  std::size_t size = 0;
};
[[gnu::cold, gnu::noinline]] inline native_stack look_at_stack() noexcept {
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
  if (is_known && left < size) found = {left, size};  // else the program runs on a stack of its own
#endif
  return found;
}

/// Counts the nested unwindings of this thread.
class nested_unwinding {
 public:
  nested_unwinding() noexcept {
    if (++depth_ % look_every == 0) [[unlikely]]
      require_stack();
  }
  nested_unwinding(nested_unwinding const&) = delete;
  nested_unwinding& operator=(nested_unwinding const&) = delete;
  ~nested_unwinding() { --depth_; }

 private:
  static constexpr unsigned look_every = 16;
  static constexpr std::size_t reserve = 64 * 1024;

  [[gnu::cold, gnu::noinline]] static void require_stack() noexcept {
    native_stack const stack = look_at_stack();
    if (stack.left >= std::min(reserve, stack.size / 4)) return;
    std::fprintf(
        stderr,
        "weft: %u resumptions, each stored in what the one before keeps, are dropped together, "
        "and the stack is used up: keep a resumption as a parameter of its coroutine\n",
        depth_);
    std::terminate();
  }

  static inline thread_local constinit unsigned depth_ = 0;
};

}  // namespace weft::detail
