// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <initializer_list>
#include <iterator>
#include <string_view>
#include <type_traits>
#include <utility>

/// Ranges as arguments of coroutines.  The concepts are those of the header <ranges>, without
/// including that header: it is slow to compile.
namespace weft::detail {

template <class R>
concept range = requires(R& r) {
  std::ranges::begin(r);
  std::ranges::end(r);
};
template <class R>
using range_iterator_t = decltype(std::ranges::begin(std::declval<R&>()));
template <class R>
using range_value_t = std::iter_value_t<range_iterator_t<R>>;
template <class R>
using range_reference_t = std::iter_reference_t<range_iterator_t<R>>;

// enable_view comes with <string_view>, which specialises it
template <class R>
concept view = range<R> && std::movable<R> && std::ranges::enable_view<R>;

template <class T>
constexpr bool is_initializer_list = false;
template <class T>
constexpr bool is_initializer_list<std::initializer_list<T>> = true;

/// How a coroutine keeps a range that is passed as `R`: a view is copied or moved, another range is
/// borrowed if it is named, and moved if it is a temporary.
template <class R>
using kept_range =
    std::conditional_t<std::is_lvalue_reference_v<R> && !view<std::remove_cvref_t<R>>, R,
                       std::remove_cvref_t<R>>;

/// A range that a coroutine can keep as kept_range says: the same as std::ranges::viewable_range.
template <class R>
concept keepable_range =
    range<R> && (view<std::remove_cvref_t<R>> ? std::constructible_from<std::remove_cvref_t<R>, R>
                                              : std::is_lvalue_reference_v<R> ||
                                                    (std::movable<std::remove_reference_t<R>> &&
                                                     !is_initializer_list<std::remove_cvref_t<R>>));

}  // namespace weft::detail
