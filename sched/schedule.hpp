// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>
#include <utility>

#include "effects/detail/start.hpp"
#include "effects/eff.hpp"
#include "sched/scheduler.hpp"

namespace weft {
namespace detail {

template <class T>
constexpr bool is_computation = false;
template <class T, class... Es>
constexpr bool is_computation<eff<T, Es...>> = std::is_void_v<T>;

template <class Program>
constexpr bool is_program = false;
template <class Program>
  requires std::is_invocable_v<Program const&>
constexpr bool is_program<Program> = is_computation<std::invoke_result_t<Program const&>>;

template <class H, class O>
constexpr bool takes_the_rest = has_control_clause<H, O> || has_multi_clause<H, O>;
template <class H, class Row>
constexpr bool only_value_clauses = false;
template <class H, class... Es>
constexpr bool only_value_clauses<H, row<Es...>> = ([]<class... Os>(op_list<Os...>) {
  return (!takes_the_rest<H, Os> && ...);
}(typename Es::operations()) && ...);

}  // namespace detail

/// Runs `program`, and every process that forks from it, until none is left.
///
///     schedule(hello, console_to_stream(std::cout));
///
/// `program` is a function without parameters that returns an eff<void, ...>; it is kept, and
/// called again when a fork is resumed a second time.  `proc` is answered by the scheduler, every
/// other effect of the row by the first of `handlers` that has clauses for it.  They stand
/// outside the scheduler: all processes share them, and a process that is run again is given
/// their old answers.
///
/// Processes run one at a time on the calling thread, in the backend's order: unless another is
/// named, schedule<my_backend>(...), the longest waiting first; of a fork, the one that gets true.
/// If a process throws, the others are unwound and schedule throws that.
template <backend Backend = one_thread, class Program, class... Handlers>
void schedule(Program program, Handlers&&... handlers) {
  static_assert(detail::is_program<Program>,
                "weft: schedule takes a program: a function that can be called as const, without "
                "arguments, and returns eff<void, ...>");
  if constexpr (detail::is_program<Program>) {
    using effects = typename std::invoke_result_t<Program const&>::effects;
    constexpr bool answer_at_once =
        (detail::only_value_clauses<std::remove_reference_t<Handlers>, effects> && ...);
    static_assert(answer_at_once,
                  "weft: a handler passed to schedule stands outside all processes and answers "
                  "them at once: on(operation), without a resumption");
    if constexpr (answer_at_once) {
      scheduler<Backend> s;
      detail::start(std::move(program), s, handlers...);
      s.run();
    }
  }
}

}  // namespace weft
