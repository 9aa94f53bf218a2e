// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>
#include <utility>

#include "weft/effects/awaits_to.hpp"
#include "weft/effects/eff.hpp"
#include "weft/effects/operation.hpp"

namespace weft {

/// The operations of a cooperative process that does not fork.  The handler of the effect decides
/// how they are carried out; most often that is a scheduler
/// (sched/runtime/detail/process_clauses.hpp). A scheduler keeps a log of answers for `proc`, but
/// none for this effect.
struct yielding {
  static constexpr bool performed_by_processes = true;  // only a process performs it
  /// Lets the other processes run first.
  struct [[nodiscard("weft: co_await it")]] yield : op<void> {
    [[nodiscard("weft: co_await it")]] yield() noexcept {}
    // The answer means only that the process has its turn: a cancellation may replace the answer.
    static constexpr bool is_turn_only = true;
  };
  /// Ends the process.  Never returns.
  struct [[nodiscard("weft: co_await it")]] exit : op<never> {
    [[nodiscard("weft: co_await it")]] exit() noexcept {}
  };

  using operations = op_list<yield, exit>;
};

/// The operations of a cooperative process that may fork.  A scheduler keeps a log of the answers
/// of the first process if `proc` is in its row, and of a process that `spawn(forkable, f)` starts.
struct proc {
  static constexpr bool performed_by_processes = true;
  /// Lets the other processes run first.
  struct [[nodiscard("weft: co_await it")]] yield : yielding::yield {
    [[nodiscard("weft: co_await it")]] yield() noexcept {}
  };
  /// Forks the process into two; the answer is true in one, false in the other.  Under a scheduler
  /// it allocates a process, and one of the two is run again from its beginning.  If a process
  /// forks n times, each of its n clones is given all answers before its fork, so the clones take
  /// O(n^2) together.  Throws unforkable if the process has no log, or no complete one;
  /// too_many_processes if `.max_processes` and `.when_full` say so.
  struct [[nodiscard("weft: co_await it")]] fork : op<bool> {
    [[nodiscard("weft: co_await it")]] fork() noexcept {}
    static constexpr bool is_turn_only = true;
  };
  /// Ends the process.  Never returns.
  struct [[nodiscard("weft: co_await it")]] exit : yielding::exit {
    [[nodiscard("weft: co_await it")]] exit() noexcept {}
  };

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

/// Forks into two processes: one runs `first()`, the other `second()`; both continue after the
/// call.  `first` and `second` are functions that return an eff<void, ...>.  Row: `proc`, and
/// the effects of both.  Allocates a frame.
///
/// g++ 12: give a closure that owns something a name before you pass it.  As a temporary in a
/// co_await it is destroyed twice.
template <class First, class Second>
[[nodiscard("weft: co_await it")]] awaits_to<void> auto fork(First first, Second second) {
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
