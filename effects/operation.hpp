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
///
/// A program that is resumed twice is run again, and given its answers again.  An operation whose
/// answer cannot be had twice says so: it seals, op<R, seals>, and what performed it can be
/// resumed once only.  That is one which writes through a reference, lends what is local, or
/// answers with something owned.  One whose answer cannot be copied seals in any case.
///
/// One that is resumed twice bitwise (multi_shot.hpp) is trivially copyable; or, moved from, holds
/// nothing, as an empty vector, and says so: `using leaves_nothing_when_moved = void;`
///
/// Debug builds compare the data of an operation that is performed again with what it was: all of
/// it if that is trivial and without padding, else what a friend `hash_value(operation)` says.
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

/// Marks an operation whose answer cannot be had twice.
struct seals {};

/// Base of an operation that is answered with an `R`.
template <class R, class Mark = void>
struct op;
template <class R>
struct op<R, void> {
  using result = R;
};
template <class R>
struct op<R, seals> : op<R> {};
template <class R>
  requires std::is_reference_v<R>
struct op<R, void> : op<std::remove_reference_t<R>> {
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

template <class O>
using mark_of =
    std::conditional_t<std::derived_from<O, op<typename O::result, seals>>, seals, void>;
/// Whether what is left of an operation when it has been moved from may be copied byte by byte.
template <class O>
constexpr bool leaves_nothing_when_moved =
    std::is_trivially_copyable_v<O> || requires { typename O::leaves_nothing_when_moved; };
template <class O>
constexpr bool is_sealing =
    std::is_same_v<mark_of<O>, seals> ||
    !(std::is_void_v<typename O::result> || std::is_same_v<typename O::result, never> ||
      std::is_copy_constructible_v<typename O::result>);
}  // namespace detail

template <class E>
concept effect =
    requires { typename E::operations; } && detail::lists_operations_once<typename E::operations>;

}  // namespace weft
