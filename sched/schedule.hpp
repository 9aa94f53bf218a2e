// SPDX-License-Identifier: MIT
#pragma once

#include "weft/effects/detail/mistakes/mistakes.hpp"  // first: errors then list few includes

#include <concepts>
#include <utility>

#include "weft/sched/backends/one_thread.hpp"
#include "weft/sched/base/named.hpp"
#include "weft/sched/base/spawning.hpp"
#include "weft/sched/mail/mail.hpp"
#include "weft/sched/mail/routing.hpp"
#include "weft/sched/runtime/scheduler.hpp"
#include "weft/sched/sync/barrier.hpp"
#include "weft/sched/sync/completion.hpp"
#include "weft/sched/sync/condition.hpp"
#include "weft/sched/sync/mutex.hpp"
#include "weft/sched/sync/semaphore.hpp"
#include "weft/sched/sync/shared.hpp"
#include "weft/sched/sync/timing.hpp"

namespace weft {

namespace detail {
template <class Backend>
scheduler<Backend> scheduler_with([[maybe_unused]] typename scheduler<Backend>::options const& o) {
  if constexpr (configurable_backend<Backend>)
    return scheduler<Backend>(o);
  else
    return scheduler<Backend>();
}
}  // namespace detail

/// Runs `program`, and every process that is forked or spawned from it, until no process is left.
///
///     schedule(hello, console_to_stream(std::cout));
///     schedule({.virtual_time = true}, server, handlers...);
///
/// `program` is a function without parameters that returns an eff<void, ...>.  It is kept, and
/// called again when the second of the two processes of a fork goes on.  The scheduler answers
/// `yielding`, `proc`, `spawning`, `tasking`, `syncing`, `mail`, `routing`, `timing` and
/// `completions`; every other effect of the row is answered by the first of `handlers` that has
/// clauses for it.  The handlers stand outside the scheduler: all processes share them, and a
/// process that is run again gets their old answers.
///
/// By default processes run one at a time on the calling thread: the one that has been ready
/// longest first; and after a fork, the process that gets true before the other one.
/// schedule<my_backend>(...) names another backend, with an order of its own.
/// schedule<sharing>({.threads = n}, ...) of sched/sharing.hpp, and schedule<stealing>({.threads =
/// n}, ...) of sched/stealing.hpp, run processes on n threads, including the calling one.  Then
/// several threads use the handlers at once, and each handler must declare that it is thread_safe,
/// or be wrapped in synchronized (effects/synchronized.hpp).
///
/// If a process throws, the others find `cancelled` at their next operation and unwind; then
/// schedule throws that exception, or `exceptions` if several processes failed.  It throws
/// `deadlock` if all processes that are left wait and nothing is due from outside (completion.hpp).
/// If `.stop`, a std::stop_token, is requested to stop, all processes find `cancelled`, also where
/// they wait, and schedule throws `cancelled`, unless all processes had ended by then.
///
/// `.max_processes` limits the number of processes at once.  An operation that would start one more
/// throws too_many_processes, or waits, as `.when_full` says.  If all processes that are left wait
/// for room, it is a deadlock.  A program that submits processes from outside, or shuts the
/// scheduler down, uses the object in scheduler.hpp.
///
/// Called inside a process, schedule is a *blocking call*, as locking a std::mutex or reading a
/// file is: until it returns, its thread runs no other process of the scheduler around it.  If the
/// scheduler around it has one thread, that scheduler stands still; if it has several, the other
/// threads take over the ready processes.  So a process of the inner scheduler must not wait, by a
/// completion for instance, for an action of a process of the outer one: if no thread is left to
/// run that process, the wait never ends.  Nor is it reported as a deadlock, since any thread may
/// complete a completion.
///
/// A step of a process is O(1).  Allocates the scheduler, a table of the handlers, and what the
/// processes allocate.  Besides the exceptions above, throws bad_alloc if there is no memory, and
/// std::system_error if a thread cannot be started.  Thread safe: each call is a scheduler of its
/// own.
template <backend Backend = one_thread, class Program, class... Handlers>
void schedule(typename scheduler<Backend>::options options, Program program,
              Handlers&&... handlers) {
  auto s = detail::scheduler_with<Backend>(options);
  s.start(options, std::move(program), std::forward<Handlers>(handlers)...).run();
}
template <backend Backend = one_thread, class Program, class... Handlers>
  requires(!std::convertible_to<Program, typename scheduler<Backend>::options>)
void schedule(Program program, Handlers&&... handlers) {
  // Repeats the overload above: a call of it would add a note to each error of the compiler.
  typename scheduler<Backend>::options const options{};
  auto s = detail::scheduler_with<Backend>(options);
  s.start(options, std::move(program), std::forward<Handlers>(handlers)...).run();
}

}  // namespace weft
