// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <exception>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "weft/effects/detail/prompt.hpp"

namespace weft {

/// Passed in place of the value to resume with: the exception is thrown at the operation.
///
///     resume(std::move(k), raising{std::make_exception_ptr(timeout())});
///
/// Throws std::invalid_argument if there is no exception in `e`.
struct raising {
  explicit raising(std::exception_ptr e) : error(std::move(e)) {
    if (!error) throw std::invalid_argument("weft: raising takes an exception");
  }
  std::exception_ptr error;  ///< The exception.
};

namespace detail {

/// Owns the suspended chain of frames and prompts of one resumption.  Its destructor unwinds the
/// chain in a loop, the innermost frame first.
class [[clang::trivial_abi]] captured_frames {
 public:
  captured_frames() = default;
  explicit captured_frames(prompt& p) noexcept : prompt_(&p) {}
  captured_frames(captured_frames&& other) noexcept
      : prompt_(std::exchange(other.prompt_, nullptr)) {}
  captured_frames& operator=(captured_frames&& other) noexcept {
    captured_frames old(std::move(*this));
    prompt_ = std::exchange(other.prompt_, nullptr);
    return *this;
  }
  ~captured_frames() {
    if (prompt_) [[unlikely]]
      prompt_->drop();
  }

  /// Releases the chain to the caller.
  prompt* release() noexcept { return std::exchange(prompt_, nullptr); }

  explicit operator bool() const noexcept { return prompt_ != nullptr; }
  [[nodiscard]] prompt& operator*() const noexcept { return *prompt_; }

  /// Throws resumption_empty if this owns no chain, else what prompt::require_open() throws.
  void require_open() const {
    if (!prompt_) [[unlikely]]
      throw_empty();
    prompt_->require_open();
  }
  /// Releases the chain and resumes it: its answer goes into `to`, then `waiter` continues.
  /// Returns the frame to run next.
  [[nodiscard]] std::coroutine_handle<> go(continuation waiter, result_slot_base& to) && noexcept {
    prompt& p = *std::exchange(prompt_, nullptr);
    p.aim(waiter, to);
    return p.activate();
  }

  [[noreturn, gnu::cold, gnu::noinline]] static void throw_empty() { throw resumption_empty(); }

 private:
  prompt* prompt_ = nullptr;
};

template <class V>
constexpr bool is_raising = std::is_same_v<std::remove_cvref_t<V>, raising>;

/// Whether an operation of result `R` can be answered with `V...`.
template <class R, class... V>
constexpr bool answers = std::is_constructible_v<kept<R>, V...> && !std::is_same_v<R, never> &&
                         (std::is_void_v<R> ? sizeof...(V) == 0 : sizeof...(V) > 0);
template <class R, class V>
constexpr bool answers<R, V> = is_raising<V> || (std::is_constructible_v<kept<R>, V> &&
                                                 !std::is_void_v<R> && !std::is_same_v<R, never>);

/// Fills in an answer: a value, or an exception.
template <class R, class... V>
void put(result_slot<R>& waiting, V&&... value) {
  constexpr bool is_an_answer = answers<R, V...>;
  static_assert(is_an_answer,
                "weft: an operation is resumed with a value of its result type, or raising{...}; "
                "one that is answered with void, with nothing");
  if constexpr ((is_raising<V> || ...))
    waiting.fail(std::forward<V>(value).error...);
  else if constexpr (is_an_answer)
    waiting.set(std::forward<V>(value)...);
}

/// The slot that the leaf of a chain waits in.
template <class R>
result_slot<R>& waiting_in(captured_frames const& rest) noexcept {
  return static_cast<result_slot<R>&>((*rest).waiting());
}
/// Returns waiting_in() of a chain that may be resumed now.  Throws as require_open() does.
template <class R>
result_slot<R>& open_slot_in(captured_frames const& rest) {
  rest.require_open();
  return waiting_in<R>(rest);
}

/// Fills in the answer for which a chain waits.  The value is made before require_open() is called,
/// because making it may run any code.
template <class R, class... V>
void fill(captured_frames const& rest, V&&... value) {
  constexpr bool is_made = ((std::is_same_v<V&&, kept<R>&&> || is_raising<V>) && ...);
  if constexpr (is_made || !answers<R, V...>) {
    put(open_slot_in<R>(rest), std::forward<V>(value)...);
  } else {
    kept<R> made(std::forward<V>(value)...);
    put(open_slot_in<R>(rest), std::move(made));
  }
}

}  // namespace detail
}  // namespace weft
