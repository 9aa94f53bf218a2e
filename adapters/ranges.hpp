// SPDX-License-Identifier: MIT
#pragma once

#include <iterator>
#include <ranges>
#include <utility>

#include "weft/effects/eff.hpp"
#include "weft/effects/ready/emit.hpp"

/// Computations that emit the elements of a range, such as a std::generator.  `each`
/// (effects/ready/each.hpp) is the inverse, and makes a range of a computation.
namespace weft {

/// Emits the elements of the range, one after the other.  The computation owns a range that is
/// passed as an rvalue, and borrows one that is passed as an lvalue.  An element that the range
/// gives as an rvalue is moved; another element is copied.  If the handler drops the continuation,
/// the range is not read further, and is destroyed if it is owned.
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
