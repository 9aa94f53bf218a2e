// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <exception>
#include <type_traits>

#include "effects/row.hpp"

/// What stands where a static_assert has spoken, so that it is the only one who does.
namespace weft::detail {

/// For `static_assert(is_allowed<X>, "weft: ...")` in what only a mistake can call: false, but not
/// before it is called; and the compiler names the culprit.
template <class... Culprits>
constexpr bool is_allowed = false;

/// Converts to anything.
struct anything {
  template <class T>
  operator T() const {
    std::terminate();
  }
};

/// In place of what is awaited, run, or handled with.
template <class R = anything>
struct refused {
  using handles = row<>;
  [[nodiscard]] bool await_ready() const noexcept { return true; }
  void await_suspend(std::coroutine_handle<>) const noexcept {}
  R await_resume() const { std::terminate(); }
};
template <class X>
constexpr bool is_refused_type = false;
template <class R>
constexpr bool is_refused_type<refused<R>> = true;
template <class X>
constexpr bool is_refused = is_refused_type<std::remove_cvref_t<X>>;

}  // namespace weft::detail
