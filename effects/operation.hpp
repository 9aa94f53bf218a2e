// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <type_traits>

#include "weft/effects/detail/compiler.hpp"

/// Operations and effects.
///
///     struct proc {                          // an effect is a struct that lists its operations
///       struct [[nodiscard]] yield : op<void> {};
///       struct [[nodiscard]] fork : op<bool> {};
///       struct [[nodiscard]] exit : op<never> {};
///       using operations = op_list<yield, fork, exit>;
///     };
///
/// An operation is a value: a request of a program, with its arguments.  If its data has a
/// destructor, give it a constructor: without one it is an aggregate, and g++ 12 destroys an
/// aggregate twice if it is a temporary in a co_await.
///
/// To resume a program twice, replay runs it again and gives it the recorded answers.  An operation
/// whose answer cannot be given twice is marked, op<R, seals>: it seals, and a program that has
/// performed it can be resumed only once.  Mark an operation that writes through a reference, lends
/// a local, or answers with something owned.  An operation whose answer cannot be copied seals in
/// any case.
///
/// An operation whose continuation is resumed twice bitwise (bitwise/bitwise.hpp) must be trivially
/// copyable; or else it must own nothing after it has been moved from, as is true of a vector, and
/// must declare `using leaves_nothing_when_moved = void;`
///
/// On replay, debug builds compare the data of an operation with the recorded data: by a friend
/// `hash_value(operation)` if there is one, else by its bytes if it is trivially copyable and has
/// no padding; other data are not compared.  Traces (trace/tracing.hpp) show the text of an
/// operation that has a friend `std::string_view trace_text(operation) noexcept`.
namespace weft {

namespace detail {
template <class R>
consteval bool require_value() {
  constexpr bool is_a_value = !std::is_reference_v<R>;
  static_assert(is_a_value,
                "weft: operations and computations give values: use a pointer for a reference");
  return true;  // even for a reference, so that no second error follows
}
}  // namespace detail

/// Marks an operation whose answer cannot be given twice.
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

/// A value that a program performs with `co_await`: a struct derived from op<R>.
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
/// Whether a moved-from `O` may be copied byte by byte.
template <class O>
constexpr bool leaves_nothing_when_moved =
    std::is_trivially_copyable_v<O> || requires { typename O::leaves_nothing_when_moved; };
template <class O>
constexpr bool is_sealing =
    std::is_same_v<mark_of<O>, seals> ||
    !(std::is_void_v<typename O::result> || std::is_same_v<typename O::result, never> ||
      std::is_copy_constructible_v<typename O::result>);
}  // namespace detail

/// A struct that lists its operations, each of them once: `using operations = op_list<...>;`
template <class E>
concept effect =
    requires { typename E::operations; } && detail::lists_operations_once<typename E::operations>;

}  // namespace weft
