// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <utility>

#include "sched/backends/one_thread.hpp"
#include "sched/backends/sharing.hpp"
#include "sched/backends/stealing.hpp"
#include "sched/base/spawning.hpp"
#include "sched/mail/mail.hpp"
#include "sched/mail/routing.hpp"
#include "sched/runtime/scheduler.hpp"
#include "sched/sync/barrier.hpp"
#include "sched/sync/completion.hpp"
#include "sched/sync/condition.hpp"
#include "sched/sync/mutex.hpp"
#include "sched/sync/semaphore.hpp"
#include "sched/sync/shared.hpp"
#include "sched/sync/timing.hpp"

namespace weft {

/// Runs `program`, and every process that forks or is spawned from it, until none is left.
///
///     schedule(hello, console_to_stream(std::cout));
///     schedule({.forkable = false}, server, handlers...);
///
/// `program` is a function without parameters that returns an eff<void, ...>; it is kept, and
/// called again when a fork is resumed a second time.  `proc`, `spawning`, `syncing`,
/// `mail`, `routing`, `timing` and `completions` are answered by the scheduler, every other effect
/// of the row by the first of `handlers` that has clauses for it.  They stand outside the
/// scheduler: all processes share them, and a process that is run again is given their old answers.
///
/// Processes run one at a time on the calling thread, in the backend's order: unless another is
/// named, schedule<my_backend>(...), the longest waiting first; of a fork, the one that gets true.
/// schedule<sharing>({.threads = n}, ...) runs them on n threads, of which this one is one, and so
/// does schedule<stealing>({.threads = n}, ...); then
/// the handlers are used by several at once, and each has to say that it is thread_safe, or be
/// synchronized (effects/synchronized.hpp).
///
/// If a process throws, the others find `cancelled` at their next operation and unwind, and
/// schedule throws that; `exceptions` if several did; `deadlock` if all that are left wait and
/// nothing is due from outside (completion.hpp).  If `.stop`, a std::stop_token, asks to stop, all
/// find `cancelled`, those that wait too, and schedule throws it, unless all had ended by then.
///
/// `.max_processes` says how many there may be at once; who starts one more is told so, by
/// too_many_processes, or waits, as `.when_full` says.  If all that are left wait for that, it is a
/// deadlock.  For processes that come from outside, and for shutting down, there is the object:
/// scheduler.hpp.
///
/// Called inside a process it is a *blocking call*, as a mutex is, or a file: until it returns, its
/// thread runs nobody else of the scheduler around it.  On one thread that one stands still; on
/// several, the others take over what is ready.  So what runs inside must not wait for what a
/// process outside would do, by a completion, say: if no thread is left that would do it, it never
/// comes, and is not seen as a deadlock, as it might come from elsewhere.
template <backend Backend = one_thread, class Program, class... Handlers>
void schedule(typename scheduler<Backend>::options options, Program program,
              Handlers&&... handlers) {
  if constexpr (configurable_backend<Backend>) {
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
