// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <exception>
#include <type_traits>

#include "weft/effects/row.hpp"

/// Replaces an expression that a static_assert has rejected, so that no second error follows.
namespace weft::detail {

/// For `static_assert(is_allowed<X>, "weft: ...")` in a function that is called only by mistake.
/// Always false, but not before the function is instantiated; the message names the culprits.
template <class... Culprits>
constexpr bool is_allowed = false;

/// Converts to anything.
struct anything {
  template <class T>
  operator T() const {
    std::terminate();
  }
};

/// Stands in for an awaitable, a computation or a handler.
template <class R = anything>
struct refused {
  using handles = row<>;
  [[nodiscard]] bool await_ready() const noexcept { return true; }
  void await_suspend(std::coroutine_handle<>) const noexcept {}
  R await_resume() const { std::terminate(); }
};
refused() -> refused<>;
template <class X>
constexpr bool is_refused_type = false;
template <class R>
constexpr bool is_refused_type<refused<R>> = true;
template <class X>
constexpr bool is_refused = is_refused_type<std::remove_cvref_t<X>>;

}  // namespace weft::detail
