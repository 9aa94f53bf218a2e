// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <tuple>
#include <type_traits>
#include <utility>

#include "weft/effects/awaits_to.hpp"
#include "weft/effects/detail/row_set.hpp"
#include "weft/effects/eff.hpp"
#include "weft/effects/ready/detail/kept_range.hpp"

namespace weft {

namespace detail {
template <class Row>
struct for_each_of;
template <class... Es>
struct for_each_of<row<Es...>> {
  template <class Kept, class F>
  static eff<void, Es...> each(Kept elements, F f) {
    for (auto&& element : elements)
      co_await std::apply(f, std::forward_as_tuple(std::forward<decltype(element)>(element)));
  }
};
}  // namespace detail

/// Calls `f` with each element in turn, and awaits the eff<void, ...> that it returns.  Row: the
/// effects of `f`.
///
///     co_await for_each(names, [](std::string const& n) -> eff<void, console> {
///       co_await console::print_line{n};
///     });
///
/// A named range is borrowed, a temporary is kept; `f` is kept.  `f` may capture: it stays in place
/// while a computation that it returned runs.  O(n); allocates one frame, and one for each element.
template <detail::keepable_range Range, class F>
[[nodiscard("weft: co_await it")]] awaits_to<void> auto for_each(Range&& range, F f) {
  constexpr bool gives_computations = detail::body_function<F, detail::range_reference_t<Range>>;
  static_assert(gives_computations,
                "weft: for_each takes a function that can be called with each element, and returns "
                "an eff<void, ...>");
  if constexpr (gives_computations) {
    using body = std::invoke_result_t<F&, detail::range_reference_t<Range>>;
    return detail::for_each_of<typename body::effects>::template each<detail::kept_range<Range>>(
        std::forward<Range>(range), std::move(f));
  } else {
    return detail::refused<void>();
  }
}

}  // namespace weft
