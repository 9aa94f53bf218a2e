// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <cstdint>
#include <exception>
#include <source_location>

#include "weft/effects/handle.hpp"
#include "weft/sched/base/backend.hpp"
#include "weft/sched/base/process.hpp"
#include "weft/sched/base/thunk.hpp"
#include "weft/sched/base/trace_event.hpp"

namespace weft::detail {

/// An operation that a process has deferred to its next turn: other processes may go first, and the
/// operation is a step of its own.
struct pending_operation {
  /// Performs the operation, in the turn of the process, which is suspended there.  Returns the
  /// frame to resume.
  using perform_function = std::coroutine_handle<>(void* scheduler, process& p,
                                                   pending_operation const& self);
  perform_function* perform = nullptr;
  void* handler = nullptr;  // the evidence of the handler that answers
  void* operation = nullptr;
  void* waiting = nullptr;  // the slot of the answer
  std::coroutine_handle<> leaf{};
  /// If not null: called instead of dropping the process; it takes the process over (TASK-4 of
  /// task.hpp).
  void (*drop)(void* scheduler, process& p, pending_operation const& self) noexcept = nullptr;
  bool is_a_step = true;  // false: deferred only until the events of its process have taken effect
};

/// The functions by which a scheduler `S` reports on its processes, and asks about their steps.  A
/// backend may bring an observer, `B::observer`: that of tracing<B> adds events to a trace, that of
/// an explorer notes accesses, and makes an operation a step of its own.  This observer, for all
/// other backends, does nothing, and the compiler removes the calls.  Other observers derive from
/// it, and hide the functions that they need.
struct no_observer {
  static constexpr bool is_there = false;
  static constexpr bool keeps_trace = false;
  /// Whether a process gives way when its step has had its share of messages.
  static constexpr bool limits_steps = true;
  /// Whether threads other than the scheduler's may put a process.
  static constexpr bool outside_may_come = true;

  // ---- reports

  static void on_event(auto&, trace_event const&) noexcept {}  // an event for a trace
  static void on_made(auto&) noexcept {}                       // the scheduler was made
  template <class F>
  static void on_learnt(auto&) {}  // the scheduler has learnt the effect `F`
  static void on_handlers(auto&, auto&) {}
  static void on_start(auto&, process const&) noexcept {}
  /// Called before the child of a spawn is made.
  static void on_spawn(auto&, process_id, std::source_location) noexcept {}
  static void on_fork(auto&, auto&, auto&) noexcept {}
  static void on_fork_refused(auto&) noexcept {}
  static void on_rerun(auto&) noexcept {}
  static void on_wake(auto&, process const&) noexcept {}
  static void on_step(auto&, process const&) noexcept {}  // the process begins a step
  static void on_resume(auto&, process const&, std::uint64_t) noexcept {}
  static void on_failure(auto&, process const&, std::exception_ptr const&) noexcept {}
  static void on_retire(auto&, process const&) noexcept {}
  static void on_group(auto&) noexcept {}  // a scope was opened, or a task became a process
  static void on_clock(auto&) noexcept {}  // the time was read
  static void on_time(auto&) noexcept {}   // virtual time has advanced
  /// For a trace: the process has sent a message to that mailbox, or received one.
  static void on_message(auto&, trace_kind, process const&, auto const&) noexcept {}
  static void on_send(auto&, auto&) noexcept {}
  static void on_receive(auto&, auto&) noexcept {}
  static void on_touch(auto&, void const*, bool) noexcept {}
  static void on_version(auto&, trace_kind, auto const&) {}  // a queue version is kept or restored
  static void on_run_end(auto&) noexcept {}
  static void on_ending(auto&) noexcept {}  // the scheduler is ending: no process runs any more
  /// Returns an object that the caller keeps while this thread runs processes.
  static nothing here(auto&) noexcept { return {}; }

  // ---- evidence and clauses

  /// Returns evidence that stands in front of a handler of `F`, or the evidence of that handler.
  /// The prompts: that of the handler, and that of the next handler further out, or null.
  template <class F>
  static evidence<F>* in_front(auto&, evidence<F>& handler, prompt const&, prompt const*) {
    return &handler;
  }
  /// Returns evidence that stands in front of a handler of `F` outside the scheduler, or the
  /// evidence of that handler; the caller passes the result to in_front().  The pointer: the
  /// evidence of the next handler further out, or null.
  template <class F, class Find>
  static evidence<F>* watched(auto&, evidence<F>& handler, evidence<F>*) {
    return &handler;
  }
  template <class Dispatch>
  using dispatch = Dispatch;

  // ---- steps

  /// Whether the process has deferred events (deferred_events.hpp), which must take effect first.
  static constexpr bool has_events(auto&, process const&) noexcept { return false; }
  /// Makes the next deferred event, or the deferred end, of the process take effect, in a turn of
  /// the process.  Returns whether that was the whole step.
  static constexpr bool applies_first(auto&, process*, std::uint64_t) noexcept { return false; }
  static pending_operation take_pending(auto&, process&) noexcept { return {}; }
  static constexpr bool defers_exit(auto&, process&) noexcept { return false; }
  static constexpr bool defers_end(auto&, process&, std::exception_ptr const&) noexcept {
    return false;
  }
  static constexpr bool defers_task_end(auto&, auto&, bool) noexcept { return false; }
  static constexpr bool defers_start(auto&, auto const&) noexcept { return false; }
  /// Whether a send to a process that waits ends the step of its sender.
  static constexpr bool ends_step_of_sender(auto&) noexcept { return false; }
  /// Takes the next process on the slow path of the scheduler, as when all processes are unwound.
  static thunk take_while_cancelled(auto& s) noexcept { return s.take(); }
  /// Whether an exchange has returned an empty thunk, because the backend was stopped.
  static constexpr bool has_stopped(thunk const&) noexcept { return false; }
};

template <class B>
struct observer_of_backend {
  using type = no_observer;
};
template <observed_backend B>
struct observer_of_backend<B> {
  using type = typename B::observer;
};
template <class B>
using observer_of = typename observer_of_backend<B>::type;

}  // namespace weft::detail
