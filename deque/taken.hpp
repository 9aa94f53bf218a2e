// SPDX-License-Identifier: MIT
#pragma once

#include <cassert>
#include <cstdint>

namespace weft {

/// Why a call took nothing.
enum class missed : std::uint8_t {
  empty,  ///< The deque or queue was empty at some moment of the call.
  lost    ///< Another thread took the item first; another attempt may succeed.
};

/// The result of a take: a value, or the reason why there is none (`missed`).  A null pointer could
/// not tell the two reasons apart.
///
///     if (auto const t = d.try_pop()) run(*t);
template <class T>
class taken {
 public:
  constexpr taken(T value) noexcept : value_(value), is_value_(true), why_() {}
  constexpr taken(missed why) noexcept : value_(), is_value_(false), why_(why) {}

  [[nodiscard]] constexpr explicit operator bool() const noexcept { return is_value_; }
  /// Whether there was nothing to take.
  [[nodiscard]] constexpr bool is_empty() const noexcept {
    return !is_value_ && why_ == missed::empty;
  }
  /// Whether another thread took the item first.
  [[nodiscard]] constexpr bool is_lost() const noexcept {
    return !is_value_ && why_ == missed::lost;
  }
  /// Requires a value.
  [[nodiscard]] constexpr T operator*() const noexcept {
    assert(is_value_);
    return value_;
  }

 private:
  T value_;
  bool is_value_;
  missed why_;
};

}  // namespace weft
