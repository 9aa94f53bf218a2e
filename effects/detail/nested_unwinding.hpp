// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <exception>

#include "weft/effects/detail/platform.hpp"

/// Unwinding that begins inside another one: a destructor in a frame drops a resumption, or ends a
/// region.
///
///   NEST-1  The dropped continuation may refer to an object that is destroyed right after the
///       resumption which owns the continuation, such as a local declared before that resumption.
///       So the continuation is unwound before the destructor of the resumption returns.  Since C++
///       cannot suspend a destructor, each nested unwinding takes native stack.
///   NEST-2  The program ends with a message before the stack is used up.
namespace weft::detail {

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
