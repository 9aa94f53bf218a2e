// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <utility>

#include "sched/completion.hpp"
#include "sched/one_thread.hpp"
#include "sched/scheduler.hpp"
#include "sched/sharing.hpp"
#include "sched/spawning.hpp"

namespace weft {

/// Runs `program`, and every process that forks or is spawned from it, until none is left.
///
///     schedule(hello, console_to_stream(std::cout));
///     schedule({.forkable = false}, server, handlers...);
///
/// `program` is a function without parameters that returns an eff<void, ...>; it is kept, and
/// called again when a fork is resumed a second time.  `proc`, `spawning` and `syncing` are
/// answered by the scheduler, every other effect of the row by the first of `handlers` that has
/// clauses for it.  They stand outside the scheduler: all processes share them, and a process
/// that is run again is given their old answers.
///
/// Processes run one at a time on the calling thread, in the backend's order: unless another is
/// named, schedule<my_backend>(...), the longest waiting first; of a fork, the one that gets true.
/// Called inside a process it is a call like any other: that process waits, and its scheduler.
///
/// If a process throws, the others find `cancelled` at their next operation and unwind, and
/// schedule throws that; `exceptions` if several did; `deadlock` if all that are left wait.
template <backend Backend = one_thread, class Program, class... Handlers>
void schedule(typename scheduler<Backend>::options options, Program program,
              Handlers&&... handlers) {
  if constexpr (with_options<Backend>) {
    scheduler<Backend> s(options);
    s.start(options, std::move(program), std::forward<Handlers>(handlers)...).run();
  } else {
    scheduler<Backend> s;
    s.start(options, std::move(program), std::forward<Handlers>(handlers)...).run();
  }
}
template <backend Backend = one_thread, class Program, class... Handlers>
  requires(!std::convertible_to<Program, typename scheduler<Backend>::options>)
void schedule(Program program, Handlers&&... handlers) {
  schedule<Backend>(typename scheduler<Backend>::options(), std::move(program),
                    std::forward<Handlers>(handlers)...);
}

}  // namespace weft
