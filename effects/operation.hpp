// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <type_traits>

/// Operations and effects.
///
///     struct proc {                          // an effect is a struct that lists its operations
///       struct yield : op<void> {};
///       struct fork : op<bool> {};
///       struct exit : op<never> {};
///       using operations = op_list<yield, fork, exit>;
///     };
///
/// An operation is a value: what a program asks for, with the data that the asking takes.  An
/// operation whose data is not trivial has a constructor (g++ 12 destroys such an aggregate
/// twice when it is a temporary in a co_await).
namespace weft {

namespace detail {
template <class R>
consteval bool require_value() {
  constexpr bool is_a_value = !std::is_reference_v<R>;
  static_assert(is_a_value,
                "weft: operations and computations give values: use a pointer for a reference");
  return true;  // and go on as if it were one
}
}  // namespace detail

/// Base of an operation that is answered with an `R`.
template <class R>
struct op {
  using result = R;
};
template <class R>
  requires std::is_reference_v<R>
struct op<R> : op<std::remove_reference_t<R>> {
  static_assert(detail::require_value<R>());
};

/// The answer of an operation that never returns.
struct never {
  never() = delete;
};

/// The operations of an effect.
template <class... Operations>
struct op_list {};

template <class O>
concept operation =
    requires { typename O::result; } && std::derived_from<O, op<typename O::result>>;

namespace detail {
template <class O, class... Os>
constexpr int times_among = (std::is_same_v<O, Os> + ... + 0);
template <class List>
constexpr bool lists_operations_once = false;
template <operation... Os>
constexpr bool lists_operations_once<op_list<Os...>> = ((times_among<Os, Os...> == 1) && ...);
}  // namespace detail

template <class E>
concept effect =
    requires { typename E::operations; } && detail::lists_operations_once<typename E::operations>;

}  // namespace weft
