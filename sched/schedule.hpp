// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>
#include <utility>

#include "effects/eff.hpp"
#include "effects/handle.hpp"
#include "effects/run.hpp"
#include "sched/detail/outside.hpp"
#include "sched/scheduler.hpp"

namespace weft {

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
    using row = typename std::invoke_result_t<Program const&>::effects;
    using outside = detail::row_difference<row, weft::row<proc>>;
    if constexpr (detail::can_stand_outside<outside, Handlers...>()) {
      scheduler<Backend> s;
      detail::run_under<outside>(
          [&]() -> detail::eff_of<void, outside> {
            co_await handle(s, std::move(program));
            s.run();  // inside the handlers: what is resumed performs to them
          },
          handlers...);
    }
  }
}

}  // namespace weft
