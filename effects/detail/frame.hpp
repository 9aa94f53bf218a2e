// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <cstddef>
#include <exception>
#include <new>
#include <type_traits>
#include <utility>

#include "effects/detail/answer.hpp"

/// Frames: what every coroutine of ours has, how one goes on to the next, and how a chain of
/// them is destroyed.
///
///   F1  A frame that has started owns itself: it is destroyed when it ends, or by unwind().
///       One that has not is destroyed by the `eff` that holds it.  A destructor that throws while
///       its frame is unwound ends the program, as it does when an exception unwinds a stack.
///   F2  A frame leaves its result where its caller waits (`to`), and then `parent` goes on.  The
///       outermost frame of a body has no parent.
namespace weft::detail {

class prompt;

/// How many frames have been made and destroyed on this thread.  For tests.
struct frame_count {
  long births = 0;
  long deaths = 0;
};
inline thread_local constinit frame_count frames;

/// The part of a promise that does not depend on the result.  Only pointers: so that it lies at
/// the same place in every frame.
struct frame {
  std::coroutine_handle<> parent;  // F2; written by who starts us
  prompt* within = nullptr;        // whose handlers we ask; written by who starts us

  static void* operator new(std::size_t bytes) {
    void* const memory = ::operator new(bytes);
    ++frames.births;
    return memory;
  }
  static void operator delete(void* memory, std::size_t bytes) noexcept {
    ++frames.deaths;
    ::operator delete(memory, bytes);
  }
};

inline frame& frame_of(std::coroutine_handle<> h) {
  return std::coroutine_handle<frame>::from_address(h.address()).promise();
}

/// Destroys a suspended chain of frames from the innermost outwards: in a loop, so a chain of a
/// million takes no stack.
inline void unwind(std::coroutine_handle<> innermost) noexcept {
  while (innermost) {
    auto const up = frame_of(innermost).parent;
    frame_of(innermost).within = nullptr;  // so that the frame knows, if something is thrown
    innermost.destroy();
    innermost = up;
  }
}

// ---- going on
//
// clang makes a symmetric transfer a jump at every level.  g++ 12 does so only from -O2 on and
// never under sanitizers, and no macro tells; there each frame returns to a loop that resumes
// the next, so that no chain of calls takes stack.

#if defined(__clang__)
using transfer = std::coroutine_handle<>;
inline transfer go_on(std::coroutine_handle<> next) noexcept {
  return next ? next : std::noop_coroutine();
}
inline void drive(std::coroutine_handle<> first) { first.resume(); }
#else
using transfer = void;
inline thread_local constinit void* next_to_go = nullptr;
inline void go_on(std::coroutine_handle<> next) noexcept { next_to_go = next.address(); }
inline void drive(std::coroutine_handle<> first) {
  next_to_go = first.address();
  while (void* const next = std::exchange(next_to_go, nullptr))
    std::coroutine_handle<>::from_address(next).resume();
}
#endif

// ---- results (F2)

template <class T>
struct frame_that_answers : frame {
  answer<T>* to = nullptr;
  void unhandled_exception() noexcept {
    if (!within) std::terminate();  // F1
    to->fail(std::current_exception());
  }
};
template <class T>
struct frame_with_result : frame_that_answers<T> {
  template <class U = T>
  void return_value(U&& value) {
    static_assert(std::is_convertible_v<U, T>,
                  "weft: co_return with what does not convert to the computation's type");
    if constexpr (std::is_convertible_v<U, T>) this->to->set(std::forward<U>(value));
  }
};
template <>
struct frame_with_result<void> : frame_that_answers<void> {
  void return_void() noexcept { to->set(); }
};

struct at_end {
  [[nodiscard]] bool await_ready() const noexcept { return false; }
  template <class Promise>
  transfer await_suspend(
      std::coroutine_handle<Promise> me) const noexcept;  // effects/detail/prompt.hpp
  void await_resume() const noexcept {}
};

}  // namespace weft::detail
