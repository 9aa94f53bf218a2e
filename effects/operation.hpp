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

/// Base of an operation that is answered with an `R`.
template <class R>
struct op {
  static_assert(!std::is_reference_v<R>,
                "weft: an operation is answered with a value: use a pointer for a reference");
  using result = R;
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

template <class E>
concept effect = requires { typename E::operations; };

}  // namespace weft
