// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <utility>

#include "weft/effects/detail/operation_info.hpp"
#include "weft/effects/detail/performing.hpp"
#include "weft/effects/operation.hpp"

namespace weft {

/// The operation `O` of a tagged effect.
template <class Label, operation O>
struct [[nodiscard("weft: co_await it")]] tagged_operation
    : op<typename O::result, detail::mark_of<O>> {
  [[nodiscard("weft: co_await it")]] explicit tagged_operation(O o) : untagged(std::move(o)) {}
  O untagged;

  friend std::size_t hash_value(tagged_operation const& o) {
    return detail::argument_hash(o.untagged);
  }
};

namespace detail {
template <class Label, class O>
constexpr bool is_destroyed_once<tagged_operation<Label, O>> = is_destroyed_once<O>;

template <class Label, class Operations>
struct tagged_operations;
template <class Label, class... Os>
struct tagged_operations<Label, op_list<Os...>> {
  using type = op_list<tagged_operation<Label, Os>...>;
};
}  // namespace detail

/// A second instance of an effect, distinguished by a label (any type):
///
///     struct width;
///     struct height;
///     using size = row<tagged<width, state<int>>, tagged<height, state<int>>>;
///     int const w = co_await in<width>(state<int>::get{});
///
/// Any handler of the effect handles its tagged form as well:
/// `handle<tagged<width, state<int>>>(state_of(1), ...)`.
template <class Label, class E>
struct tagged {};
template <class Label, effect E>
struct tagged<Label, E> {
  using operations = typename detail::tagged_operations<Label, typename E::operations>::type;
};

/// Makes of `operation`, an operation of an effect `E`, the same operation of `tagged<Label, E>`.
/// Row: `tagged<Label, E>`.  `co_await` yields the answer to the operation.
template <class Label, operation O>
tagged_operation<Label, O> in(O operation) {
  return tagged_operation<Label, O>(std::move(operation));
}

}  // namespace weft
