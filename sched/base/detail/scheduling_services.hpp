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

/// The members of a scheduler that the clauses of `mail`, `sync` and `tasks` may use.  The clauses
/// are functions on(scheduler, operation), and the functions that these call; tools/lint.py checks
/// that they use no other members.  backend_scheduler.hpp has all members.  When on() is called,
/// the running process is suspended at its operation, unless the operation is answered at once
/// (scheduled.hpp).
template <class S>
concept scheduling_services =
    requires(S& s, process& p, thunk t, std::uint64_t answer, first_frame first) {
      // The kind of scheduler, as constants and types: a rare kind costs the other kinds nothing.
      { S::on_several_threads } -> std::convertible_to<bool>;
      typename S::observer;
      typename S::backend_type;

      // The running process, and the worker that runs it.
      { s.running() } -> std::same_as<process&>;
      { s.running_here() } -> std::same_as<process*>;  // null if no process runs
      s.here();                                        // the state of this worker
      s.worker_here();  // like here(), but the scheduler's own state if this thread is no worker
      s.worker();       // the backend's part of this worker

      // The lists on which processes wait, and the cancellation of processes.
      s.waits;
      { s.cancellation.needs_attention() } -> std::same_as<bool>;
      s.on_wait_begin(p);      // called before other threads can find p on a list
      s.on_waiting(p);         // called when p waits
      s.on_wait_cancelled(p);  // called if p does not wait after all

      // Boxing the running process, and putting processes into the queues.
      { s.box(answer) } -> std::same_as<thunk>;
      s.put(std::move(t), put_reason::woken);
      { s.reserve_put() };  // allocates the memory for a put, which then cannot fail

      // The results of a clause: the frame with which the thread goes on.
      { s.next() } -> std::same_as<std::coroutine_handle<>>;
      { s.resume(&p, answer) } -> std::same_as<std::coroutine_handle<>>;
      { s.refuse(p) } -> std::same_as<std::coroutine_handle<>>;  // lets p find `cancelled`
      s.retire(&p, nullptr);                                     // called when p has ended

      // For tasks that become processes, and for scopes.
      { s.is_dropping_ } -> std::same_as<bool&>;  // true while frames are unwound at the end
      s.evidence_for(*first.row, false, s.worker_here());
      S::header;            // the layout of the backend's header in front of a process
      s.unread_answer_;     // a slot for answers that nothing reads
      s.wake_cancelled(p);  // makes p ready, to find `cancelled`
      s.patience();         // how many times a process may ignore `cancelled`
      s.limits_made_;       // numbers the deadlines of scopes (scope_limit.hpp)
      { s.is_limited() } -> std::same_as<bool>;
      { s.has_alarms() } -> std::same_as<bool>;
      // Whether only handlers, or nothing, stand between the scheduler and the running code.
      { s.is_active() } -> std::same_as<bool>;
      { s.is_innermost() } -> std::same_as<bool>;
      s.fail(p.id(), nullptr);
      s.keep();  // one more owner of the scheduler, until release()
      s.release();
      s.base();  // the backend
      s.new_uncounted_process(p.id(), first);
    };

}  // namespace weft::detail
