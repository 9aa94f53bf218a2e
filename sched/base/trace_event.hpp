// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>

#include "weft/sched/base/process_id.hpp"
#include "weft/sched/base/put_reason.hpp"

namespace weft {

/// The kind of an event.  `process` and `other` are fields of the event.
enum class trace_kind : std::uint8_t {
  perform,       ///< `process` performs an operation; `text`: its data, if it gives them.
  answer,        ///< The operation that `process` performs was answered on the spot.
  suspend,       ///< `process` is suspended at its operation.
  resume,        ///< `process` runs; `value`: the answer, if that is a word.
  put,           ///< `process` is put into a queue; `reason`: why; `text`, once: its function.
  take,          ///< `process` is taken out of a queue, to run.
  steal,         ///< Of the thread `other_worker`; `value`: how many processes, or tasks.
  park,          ///< The thread sleeps.
  wake,          ///< The thread `other_worker` is woken.
  unpark,        ///< The thread no longer sleeps.
  spawn,         ///< `process` starts `other`.
  fork,          ///< `process` forks `other`, which runs again from its log.
  send,          ///< `process` sends the message number `value` to the mailbox `object`.
  receive,       ///< `process` receives the message number `value` of the mailbox `object`.
  timer,         ///< An alarm of `process` is due.
  task_offered,  ///< `process` leaves `value` tasks to any thread.
  task_taken,    ///< A task becomes `process`; or, if `value` is 0, its owner does it itself.
  cancel,        ///< Processes are cancelled: all, or those of a group of tasks if `value` is 1.
  checkpoint,    ///< A version of the queue is kept; `text`: its parts, as describe_parts() says.
  restore,       ///< A version that was kept takes the place of the queue; `text`: the same.
  fail,          ///< An exception has ended `process`; `text`: what it says.
  end            ///< `process` has ended.
};

/// An event of a trace (trace/trace.hpp).  The views refer to the trace, or to constants.
struct trace_event {
  /// The `worker` of an event on a thread that runs no process, such as one that submits.
  static constexpr std::uint16_t outside = 0xFFFF;
  /// The `depth` of an event if that is not known.
  static constexpr std::uint16_t unknown = 0xFFFF;

  std::int64_t time = 0;         ///< In nanoseconds, since the trace began.
  process_id process{};          ///< The first process if no process is meant.
  process_id other{};            ///< Of an event of two processes: the other one.
  std::string_view operation{};  ///< The operation that `process` performs, or waits at.
  std::string_view handler{};    ///< The handler that answers the operation.
  char const* file = "";         ///< Where the operation is performed.
  std::string_view text{};       ///< As the kind says.
  /// Of an operation: the handlers around it, innermost first, a line each, up to the scheduler.  Of
  /// the `spawn` of the first process: the scheduler, and the handlers outside it.
  std::string_view under{};
  std::uint64_t object = 0;              ///< Equal numbers: the same object.
  std::uint64_t value = 0;               ///< As the kind says.
  std::uint32_t line = 0;                ///< Of the file; 0 if that is not known.
  trace_kind kind{};                     ///< The kind of the event.
  put_reason reason{};                   ///< Of a `put`: why.
  std::uint16_t worker = outside;        ///< The number of the thread, from 0.
  std::uint16_t other_worker = outside;  ///< Of an event of two threads: the other one.
  /// Of an operation: how many handlers are inside the one that answers.
  std::uint16_t depth = unknown;
  bool is_replayed = false;  ///< The answer comes from the log of a process that is run again.
};

/// Where events go: trace/trace.hpp.
class trace;

}  // namespace weft
