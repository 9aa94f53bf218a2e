// SPDX-License-Identifier: MIT
#pragma once

#include <iterator>
#include <utility>

/// The concept of the header <ranges>, without including that header: it is slow to compile.
namespace weft::detail {

template <class R>
using iterator_over = decltype(std::ranges::begin(std::declval<R&>()));

template <class R>
concept input_range =
    std::input_iterator<iterator_over<R>> && requires(R& r) { std::ranges::end(r); };

}  // namespace weft::detail
