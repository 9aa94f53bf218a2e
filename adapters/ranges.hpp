// SPDX-License-Identifier: MIT
#pragma once

#include <iterator>
#include <ranges>
#include <utility>

#include "weft/effects/eff.hpp"
#include "weft/effects/ready/emit.hpp"

/// Ranges as computations that emit, such as a std::generator.  The way back, a computation as a
/// range, is `each` (effects/ready/each.hpp).
namespace weft {

/// Emits the elements of the range, one after the other.  A range that is passed as an rvalue is
/// owned by the computation, one that is passed as an lvalue is borrowed.  An element that the range
/// gives as an rvalue is moved, another one is copied.  If the handler drops the continuation, the
/// range is destroyed where it stands.
///
///     eff<void, emit<int>> squares_and_primes() {
///       co_await emit_all(std::views::iota(1, 9) | std::views::transform(square));
///       co_await emit_all(primes());        // a std::generator<int>
///     }
///
/// O(n) in the elements.  One allocation from the pool.  Throws what the range throws.
template <std::ranges::viewable_range R>
  requires std::ranges::input_range<R>
[[nodiscard]] auto emit_all(R&& range) {
  using element = std::ranges::range_value_t<R>;
  using view = std::views::all_t<R>;
  constexpr auto emits = [](view of) -> eff<void, emit<element>> {
    for (auto&& e : of) co_await typename emit<element>::value(std::forward<decltype(e)>(e));
  };
  return emits(std::views::all(std::forward<R>(range)));
}

}  // namespace weft
