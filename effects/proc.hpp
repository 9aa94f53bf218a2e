// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>
#include <utility>

#include "effects/eff.hpp"
#include "effects/operation.hpp"

namespace weft {

/// What a cooperative process may ask of whoever runs it.  Nothing here says how.
struct proc {
  static constexpr bool is_of_processes = true;  // who performs it is one (tasking.hpp)
  /// Let the others go first.
  struct yield : op<void> {
    static constexpr bool only_a_turn = true;  // nothing is lost with its answer (operation_info)
  };
  /// Become two: true in one, false in the other.
  struct fork : op<bool> {
    static constexpr bool only_a_turn = true;
  };
  struct exit : op<never> {};  ///< Stop.  Never returns.

  using operations = op_list<yield, fork, exit>;
};

namespace detail {
template <class First, class Second>
eff<void, proc, typename std::invoke_result_t<First&>::effects,
    typename std::invoke_result_t<Second&>::effects>
fork_into(First first, Second second) {
  bool const in_first = co_await proc::fork{};
  if (in_first)
    co_await first();
  else
    co_await second();
}
}  // namespace detail

/// Becomes two processes, of which one does `first()` and the other `second()`.  What follows the
/// call happens in both.  They are functions that return an eff<void, ...>.
///
/// g++ 12: closures that own something are named before they are passed; as temporaries in a
/// co_await it destroys them twice.
template <class First, class Second>
auto fork(First first, Second second) {
  constexpr bool are_functions = detail::body_function<First> && detail::body_function<Second>;
  static_assert(are_functions,
                "weft: fork takes two functions without arguments that return an eff<void, ...>, "
                "not their results");
  if constexpr (are_functions)
    return detail::fork_into(std::move(first), std::move(second));
  else
    return detail::refused<void>();
}

}  // namespace weft
