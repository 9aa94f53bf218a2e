// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <type_traits>

#include "weft/sched/base/backend.hpp"

namespace weft {

/// A duration in the unit of the clock.  Any std::chrono duration converts to a time_span, and a
/// time_span to instant::duration: a duration beyond the range of the clock becomes the longest
/// one, or the most negative one; a floating one that is no number becomes zero.  So
/// `std::chrono::hours::max()` is for ever, and no overflow.
class time_span {
 public:
  constexpr time_span() noexcept = default;
  template <class Rep, class Period>
  constexpr time_span(std::chrono::duration<Rep, Period> d) noexcept : length_(clamped(d)) {}
  constexpr operator instant::duration() const noexcept { return length_; }

 private:
  using duration = instant::duration;

  template <class Rep, class Period>
  static constexpr duration clamped(std::chrono::duration<Rep, Period> d) noexcept {
    if constexpr (std::is_same_v<std::chrono::duration<Rep, Period>, duration>) {
      return d;
    } else {
      // Compares in a floating type, in which neither side overflows.  The ends of the clock's
      // range are rounded there; a duration that rounds to the same number becomes that end.
      using wide = std::chrono::duration<long double, duration::period>;
      wide const w = std::chrono::duration_cast<wide>(d);
      if (w.count() != w.count()) return duration::zero();
      if (w >= wide(duration::max())) return duration::max();
      if (w <= wide(duration::min())) return duration::min();
      return std::chrono::duration_cast<duration>(d);
    }
  }

  duration length_{};
};

namespace detail {
/// The instant `span` after `from`; if the clock has none, its first or its last instant.
[[nodiscard]] constexpr instant time_after(instant from, time_span span) noexcept {
  instant::duration const d = span;
  instant const zero;
  // The difference between `from` and the end of the clock overflows if they have different signs.
  if (d >= instant::duration::zero())
    return d < instant::max() - (from < zero ? zero : from) ? from + d : instant::max();
  return d > instant::min() - (from < zero ? from : zero) ? from + d : instant::min();
}
}  // namespace detail

}  // namespace weft
