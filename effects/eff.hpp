// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <source_location>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "effects/detail/perform.hpp"
#include "effects/detail/prompt.hpp"
#include "effects/row.hpp"

namespace weft {

/// Awaiting a computation that was awaited before, or moved from.
struct eff_empty : std::logic_error {
  eff_empty() : logic_error("weft: this eff is empty: it was awaited before, or moved from") {}
};

/// A computation of a `T` that may perform the effects of its row, and nothing else.
///
///     eff<int, proc, console> f() {
///       co_await console::print_line{"before"};   // perform an operation
///       co_await proc::yield{};
///       co_return co_await g();                   // call another; its row is within ours
///     }
///
/// Lazy: it starts when it is awaited, which takes it: awaited again it throws eff_empty.
/// Dropped before, it does nothing.  A call costs a frame, from operator new, and no native stack
/// however deep.  One thread at a time.
///
/// A coroutine that is a capturing lambda refers to the lambda, which must outlive it: write a
/// function with parameters.
template <class T, class... Effects>
class [[nodiscard]] eff {
  static_assert(!std::is_reference_v<T>,
                "weft: a computation computes a value: use a pointer for a reference");

 public:
  using value_type = T;
  using effects = detail::flat_row<Effects...>;
  class promise_type;

  eff(eff&& other) noexcept : frame_(std::exchange(other.frame_, {})) {}
  eff& operator=(eff other) noexcept {
    std::swap(frame_, other.frame_);
    return *this;
  }
  ~eff() {
    if (frame_) frame_.destroy();
  }

  /// For the library: the frame, to be started by the one who takes it.  Throws eff_empty.
  [[nodiscard]] std::coroutine_handle<promise_type> release() {
    if (!frame_) throw eff_empty();
    return std::exchange(frame_, {});
  }

 private:
  explicit eff(std::coroutine_handle<promise_type> f) noexcept : frame_(f) {}
  std::coroutine_handle<promise_type> frame_;
};

template <class T, class... Effects>
class eff<T, Effects...>::promise_type : public detail::frame_with_result<T> {
  static_assert(
      detail::only_effects<effects>,
      "weft: a row names something that is not an effect: an effect lists its operations");

 public:
  eff get_return_object() noexcept {
    return eff(std::coroutine_handle<promise_type>::from_promise(*this));
  }
  [[nodiscard]] std::suspend_always initial_suspend() const noexcept { return {}; }
  [[nodiscard]] detail::at_end final_suspend() const noexcept { return {}; }

  template <operation O>
  auto await_transform(O o, std::source_location where = std::source_location::current()) {
    using found = detail::effect_of<O, effects>;
    static_assert(found::found,
                  "weft: this operation is outside the row of the coroutine that performs it: "
                  "name its effect in eff<...>");
    static_assert(!found::twice, "weft: two effects of the row list this operation");
    if constexpr (found::found && !found::twice)
      return detail::performing<O>(std::move(o), *this->within, where);
    else
      return detail::refused<typename O::result>();
  }

  template <class U, class... Fs>
  auto await_transform(eff<U, Fs...>&& child) {
    using callee = eff<U, Fs...>;
    constexpr bool row_is_within_ours = detail::is_subset<typename callee::effects, effects>;
    static_assert(row_is_within_ours,
                  "weft: the awaited computation may perform an effect that is outside the row "
                  "of the coroutine that awaits it");
    return detail::calling<U, typename callee::promise_type>(child.release());
  }

  template <class X>
    requires(!operation<std::remove_cvref_t<X>>)
  auto await_transform(X&&) {
    static_assert(!sizeof(X),
                  "weft: what is awaited must be an operation, or a computation that is called "
                  "here or moved: std::move(e)");
    return detail::refused();
  }
};

}  // namespace weft
