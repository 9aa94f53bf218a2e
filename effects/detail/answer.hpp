// SPDX-License-Identifier: MIT
#pragma once

#include <exception>
#include <type_traits>
#include <utility>
#include <variant>

#include "effects/operation.hpp"

namespace weft::detail {

struct nothing {};
/// What is kept of an answer `T`.
template <class T>
using kept = std::conditional_t<std::is_void_v<T> || std::is_same_v<T, never>, nothing, T>;

/// Where somebody waits for a value or an exception.  Taken once.  What is filled in last counts:
/// a destructor may throw after the value was returned.
template <class T>
class answer {
 public:
  answer() = default;
  answer(answer const&) = delete;  // others point at it
  answer& operator=(answer const&) = delete;

  template <class... Args>
  void set(Args&&... args) {
    is_.template emplace<1>(std::forward<Args>(args)...);
  }
  void fail(std::exception_ptr error) noexcept { is_.template emplace<2>(std::move(error)); }

  [[nodiscard]] kept<T> const* value() const noexcept { return std::get_if<1>(&is_); }
  [[nodiscard]] std::exception_ptr error() const noexcept {
    auto const* e = std::get_if<2>(&is_);
    return e ? *e : nullptr;
  }

  T take() {
    if (auto* e = std::get_if<2>(&is_)) std::rethrow_exception(std::move(*e));
    if constexpr (std::is_same_v<T, never>)
      std::terminate();  // nobody can have made a `never` to set
    else if constexpr (!std::is_void_v<T>)
      return std::get<1>(std::move(is_));
  }

 private:
  std::variant<std::monostate, kept<T>, std::exception_ptr> is_;
};

}  // namespace weft::detail
