// SPDX-License-Identifier: MIT
#pragma once

#include <range/v3/range/concepts.hpp>

#include "weft/effects/ready/each.hpp"

/// `each(f, args...)` as a view of range-v3: `each(f) | ranges::views::filter(odd)`.
///
/// A separate header, so that only programs that pipe include range-v3.  Include it before the
/// first such pipe.  Use one library in a pipeline: a view of std is not a view of range-v3.
template <class T>
inline constexpr bool ranges::enable_view<weft::emitted<T>> = true;
