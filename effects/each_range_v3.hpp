// SPDX-License-Identifier: MIT
#pragma once

#include <range/v3/range/concepts.hpp>

#include "effects/each.hpp"

/// `each(f, args...)` as a view of range-v3: `each(f) | ranges::views::filter(odd)`.
///
/// A header of its own, so that range-v3 is included only by those who pipe.  Include it before the
/// first such pipe.  One library a pipeline: a view of std is no view of range-v3.
template <class T>
inline constexpr bool ranges::enable_view<weft::emitted<T>> = true;
