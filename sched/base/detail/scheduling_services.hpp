// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <coroutine>
#include <cstdint>
#include <utility>

#include "weft/sched/base/backend.hpp"
#include "weft/sched/base/detail/program.hpp"
#include "weft/sched/base/process.hpp"
#include "weft/sched/base/thunk.hpp"

namespace weft::detail {

/// A scheduler, as the clauses of `mail`, `sync` and `tasks` see it: functions on(scheduler, operation)
/// and those that they call.  They use no other member (tools/lint.py); backend_scheduler.hpp has all.
/// The running process is suspended at its operation already, unless the operation declares that it
/// is answered at once (scheduled.hpp).
template <class S>
concept scheduling_services =
    requires(S& s, process& p, thunk t, std::uint64_t answer, first_frame first) {
      // The kind of scheduler: constants, so that a rare kind costs the others nothing.
      { S::on_several_threads } -> std::convertible_to<bool>;
      typename S::observer;
      typename S::backend_type;

      // The process that runs.
      { s.running() } -> std::same_as<process&>;
      { s.running_here() } -> std::same_as<process*>;  // or null
      s.here();                                        // the state of this worker
      s.worker_here();  // the same; of the whole scheduler if this thread is no worker
      s.worker();       // the backend's part of this worker

      // The lists on which processes wait, and the cancellation of processes.
      s.waits;
      { s.cancellation.needs_attention() } -> std::same_as<bool>;
      s.on_wait_begin(p);      // before a process may be seen on a list
      s.on_waiting(p);         // it waits
      s.on_wait_cancelled(p);  // it does not wait after all

      // The running process is boxed and put back.
      { s.box(answer) } -> std::same_as<thunk>;
      s.put(std::move(t), put_reason::woken);
      { s.reserve_put() };  // memory for a put, before it is too late to fail

      // A clause ends by the frame that the thread goes on to.
      { s.next() } -> std::same_as<std::coroutine_handle<>>;
      { s.resume(&p, answer) } -> std::same_as<std::coroutine_handle<>>;
      { s.refuse(p) } -> std::same_as<std::coroutine_handle<>>;  // it finds `cancelled`
      s.retire(&p, nullptr);                                     // it has ended

      // For tasks, which become processes, and for scopes.
      { s.is_dropping_ } -> std::same_as<bool&>;  // no process runs any more; frames are unwound
      s.evidence_for(*first.row, false, s.worker_here());
      S::header;            // what a process has in front
      s.sink_;              // takes the answer of a process that nobody waits for
      s.make_cancelled(p);  // ready, to find `cancelled`
      s.patience();         // how many of them a process may ignore
      s.limits_made_;       // numbers deadlines
      { s.is_limited() } -> std::same_as<bool>;
      { s.has_alarms() } -> std::same_as<bool>;
      { s.is_active() } -> std::same_as<bool>;     // it runs, and does not end
      { s.is_innermost() } -> std::same_as<bool>;  // no handler stands between it and the process
      s.fail(p.id(), nullptr);
      s.keep();  // one more owner of the scheduler, until release()
      s.release();
      s.base();  // the backend
      s.new_process_outside(p.id(), first);
    };

}  // namespace weft::detail
