// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>

#include "weft/sched/base/process_id.hpp"
#include "weft/sched/base/put_reason.hpp"

namespace weft {

/// The kind of an event.  `process` and `other` are fields of the event.
enum class trace_kind : std::uint8_t {
  perform,       ///< `process` performs an operation; `text`: its data, or empty.
  answer,        ///< The operation that `process` performs was answered on the spot.
  suspend,       ///< `process` is suspended at its operation.
  resume,        ///< `process` goes on; `value`: its answer, if that fits a word.
  put,           ///< `process` is put into a queue; `reason`: why; `text`: its function, or empty.
  take,          ///< `process` is taken out of a queue, to run.
  steal,         ///< The thread takes `value` processes, or tasks, from `other_worker`.
  park,          ///< The thread sleeps.
  wake,          ///< The thread wakes the thread `other_worker`.
  unpark,        ///< The thread no longer sleeps.
  spawn,         ///< `process` starts `other`.
  fork,          ///< `process` forks `other`, which runs again from its log.
  send,          ///< `process` sends the message number `value` to the mailbox `object`.
  receive,       ///< `process` receives the message number `value` of the mailbox `object`.
  timer,         ///< An alarm of `process` is due.
  task_offered,  ///< `process` lets any thread take `value` lazy tasks.
  task_taken,    ///< A task becomes `process`; or, if `value` is 0, `process` runs it itself.
  cancel,        ///< Processes are cancelled: all, or those of a group of tasks if `value` is 1.
  checkpoint,    ///< A version of the queue is kept; `text`: its parts (tracing_observer.hpp).
  restore,       ///< A version that was kept replaces the queue; `text`: its parts.
  fail,          ///< An exception has ended `process`; `text`: its what().
  end            ///< `process` has ended.
};

/// An event of a trace (trace/trace.hpp).  The views refer to the trace, or to constants.
struct trace_event {
  /// The `worker` of an event on a thread that runs no process, such as one that submits.
  static constexpr std::uint16_t outside = 0xFFFF;
  /// The `depth` of an event if that is not known.
  static constexpr std::uint16_t unknown = 0xFFFF;

  std::int64_t time = 0;         ///< When the event was: nanoseconds since the trace began.
  process_id process{};          ///< See trace_kind; the first process if there is none.
  process_id other{};            ///< The second process, if the event has two.
  std::string_view operation{};  ///< The operation that `process` performs, or waits at.
  std::string_view handler{};    ///< The handler that answers the operation.
  char const* file = "";         ///< The file in which the operation is performed.
  std::string_view text{};       ///< See trace_kind.
  /// For an operation: the handlers around it, innermost first, a line each, up to the scheduler.
  /// For the `spawn` of the first process: the scheduler, and the handlers outside it.
  std::string_view under{};
  std::uint64_t object = 0;        ///< A number for the object; equal numbers mean the same object.
  std::uint64_t value = 0;         ///< See trace_kind.
  std::uint32_t line = 0;          ///< The line in `file`; 0 if it is not known.
  trace_kind kind{};               ///< The kind of the event.
  put_reason reason{};             ///< For a `put`: why the process is put.
  std::uint16_t worker = outside;  ///< The number of the thread, from 0.
  std::uint16_t other_worker = outside;  ///< The second thread, if the event has two.
  /// For an operation: how many handlers are between it and the handler that answers it.
  std::uint16_t depth = unknown;
  bool is_replayed = false;  ///< The answer comes from the log of a process that is run again.
};

/// Collects events (trace/trace.hpp).
class trace;

}  // namespace weft
