// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <coroutine>
#include <exception>
#include <optional>
#include <source_location>
#include <utility>

#include "weft/effects/detail/captured_frames.hpp"
#include "weft/effects/detail/evidence.hpp"
#include "weft/effects/detail/internal.hpp"
#include "weft/effects/detail/mistakes/refused.hpp"

/// The continuation of an operation, as a value.
///
/// A control or coroutine clause gets the operation and `k`: the rest of the body from the
/// operation on, up to and including its handler.  While the clause keeps `k`, the body waits; to
/// resume `k` continues the body; to drop `k` ends the body, and destroys its frames from the
/// innermost outwards.  A resumption is used once: moving it away, resuming and dropping use it up.
/// A drop takes no native stack, even if a clause in the dropped frames keeps another continuation
/// as its parameter `k`, and so on to any depth.  But a continuation in a local variable is unwound
/// by the destructor of the variable, on the native stack (resumption_parameter.hpp).
///
///   | from             | write                         | means                              |
///   |------------------|-------------------------------|------------------------------------|
///   | a coroutine      | `co_await std::move(k)(v)`    | the answer of `k`, for further use |
///   | a control clause | `return std::move(k).last(v)` | answers with the answer of `k`     |
///   | ordinary code    | `resume(std::move(k), v)`     | runs `k`, and returns its answer   |
///
/// `v` is the answer to the operation: nothing for void, `raising{e}` for an exception that is to
/// be thrown at the operation.  Each of these calls throws resumption_empty if `k` is empty, and
/// resumption_expired if the handler has ended; if a call throws, `k` is unchanged.  To capture and
/// to resume takes O(1) and no allocation, plus a step for each prompt between the operation and
/// its handler.  All frames under one handler belong to one thread at a time; once the clause that
/// received a resumption is done, the resumption may be moved to another thread and resumed there.
/// But a continuation that contains a whole scope (with_scope) must be resumed by the process that
/// has opened the scope: in ordinary code, in another process or in a task of the scope these calls
/// throw std::logic_error.  A resume of such a continuation also takes a step for each frame.
namespace weft {

template <class A>
class outcome;
namespace detail {
template <class A, class Rest = captured_frames>
class resuming;
}  // namespace detail
}  // namespace weft

/// The continuation of a body that waits for an `R`, and whose handler answers with an `A`.  It
/// goes on under the handlers under which it was captured.  Capturing and resuming take O(1), plus
/// a step for each prompt between the operation and its handler.  Allocates nothing.  Throws
/// resumption_empty if it is empty when it is resumed; resumption_expired if its handler has ended.
template <class R, class A>
class [[nodiscard, clang::trivial_abi]] weft::resumption {
 public:
  /// Makes an empty resumption.
  resumption() = default;
  resumption(detail::internal, detail::prompt& p) noexcept : rest_(p) {}
  resumption(resumption&&) = default;
  resumption& operator=(resumption&&) = default;
  // clang-format off
  resumption(resumption const&) = delete;             // weft: a resumption is used once: std::move it, or take a multi_resumption
  resumption& operator=(resumption const&) = delete;  // weft: a resumption is used once: std::move it, or take a multi_resumption
  // clang-format on
  ~resumption() = default;

  /// Whether there is something to resume.
  explicit operator bool() const noexcept { return bool(rest_); }

  /// Fills in the value, and returns an awaitable that resumes the continuation.  Await it at once;
  /// co_await yields the answer of the continuation.
  template <class... V>
  detail::resuming<A> operator()(V&&... value) && {
    return detail::resuming<A>(ready(detail::internal(), std::forward<V>(value)...));
  }
  template <class... V>
  detail::resuming<A> operator()(V&&...) const& {
    static_assert(detail::is_allowed<resumption, V...>,
                  "weft: a resumption is used once: write std::move(k)(v)");
    std::terminate();
  }

  /// Fills in the value.  A clause that returns the result answers with the answer of the
  /// continuation: the clause jumps into the continuation, and takes no native stack.
  template <class... V>
  outcome<A> last(V&&... value) && {
    return outcome<A>(detail::internal(), ready(detail::internal(), std::forward<V>(value)...));
  }
  template <class... V>
  outcome<A> last(V&&...) const& {
    static_assert(detail::is_allowed<resumption, V...>,
                  "weft: a resumption is used once: write std::move(k).last(v)");
    std::terminate();
  }

  /// Fills in the answer, and releases the chain to the caller.
  template <class... V>
  detail::captured_frames ready(detail::internal, V&&... value) {
    detail::fill<R>(rest_, std::forward<V>(value)...);
    return std::move(rest_);
  }
  [[nodiscard]] detail::captured_frames const& rest(detail::internal) const noexcept {
    return rest_;
  }
  [[nodiscard]] detail::captured_frames take(detail::internal) && noexcept {
    return std::move(rest_);
  }
  [[nodiscard]] detail::prompt const* prompt_here(detail::internal) const noexcept {
    return rest_ ? &*rest_ : nullptr;
  }
  [[nodiscard]] detail::prompt* hand_over(detail::internal) && noexcept { return rest_.release(); }

 private:
  detail::captured_frames rest_;
};

namespace weft {

/// The result of a control clause that may jump: holds the answer, or the continuation to jump to,
/// as `std::move(k).last(v)` gives it.
template <class A>
class [[nodiscard]] outcome {
 public:
  outcome()
    requires std::is_void_v<A>
  = default;
  template <class U>
    requires(std::convertible_to<U, A> && !std::is_void_v<A>)
  outcome(U&& value) : value_(std::forward<U>(value)) {}
  outcome(detail::internal, detail::captured_frames rest) noexcept : rest_(std::move(rest)) {}

  /// The continuation to jump to; empty if there is a value.
  [[nodiscard]] detail::captured_frames& rest(detail::internal) noexcept { return rest_; }
  [[nodiscard]] std::optional<detail::kept<A>>& value(detail::internal) noexcept { return value_; }

 private:
  std::optional<detail::kept<A>> value_;
  detail::captured_frames rest_;
};

namespace detail {

template <class T>
constexpr bool is_resumption = false;
template <class R, class A>
constexpr bool is_resumption<resumption<R, A>> = true;
template <class R, class A>
constexpr bool is_resumption<multi_resumption<R, A>> = true;

/// The result of `std::move(k)(v)`, and of `k(v)` of a multi_resumption.  It is its own awaiter,
/// because a separate one would make the awaiting frame larger.  `Rest` owns the frames to resume.
template <class A, class Rest>
class [[nodiscard(
    "weft: a continuation runs once it is awaited: co_await std::move(k)(v); ordinary code calls "
    "resume(std::move(k), v)")]] resuming {
 public:
  explicit resuming(Rest rest) noexcept : rest_(std::move(rest)) {}
  /// For g++ 12, which moves the temporary of a co_await before it awaits it.
  resuming(resuming&& other) noexcept
      : rest_(std::move(other.rest_)), answer_(other.answer_.where) {}

  /// Sets the source line of the co_await.
  resuming&& at(std::source_location where) noexcept {
    answer_.where = where;
    return std::move(*this);
  }
  [[nodiscard]] bool await_ready() const {
    rest_.require_open();  // a second check: the handler may have ended since k(v)
    return false;
  }
  transfer await_suspend(std::coroutine_handle<> me) noexcept(
      noexcept(std::declval<Rest>().go(me, std::declval<result_slot<A>&>()))) {
    return detail::go_on(std::move(rest_).go(me, answer_));
  }
  A await_resume() { return answer_.take(); }

 private:
  Rest rest_;
  result_slot<A> answer_;
};

}  // namespace detail

/// Resumes from ordinary code, and returns the answer of the continuation.  An operation of the
/// continuation that would suspend frames outside this call throws needs_control.  Throws what the
/// continuation throws; resumption_empty if `k` is empty; resumption_expired if its handler has
/// ended.
template <class R, class A, class... V>
A resume(resumption<R, A>&& k, V&&... value) {
  detail::result_slot<A> answer;
  {
    detail::prompt::driver const outside;
    auto rest = k.ready(detail::internal(), std::forward<V>(value)...);
    detail::drive(std::move(rest).go(detail::continuation::ordinary_code(), answer));
  }
  return answer.take_at_last();
}

// clang-format off
template <class R, class A, class... V>
A resume(resumption<R, A> const& k, V&&... value) = delete;  // weft: a resumption is used once: write resume(std::move(k), v)
// clang-format on

}  // namespace weft
