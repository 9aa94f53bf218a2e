// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weft/sched/base/trace_event.hpp"
#include "weft/trace/trace.hpp"

/// Traces as files.
namespace weft {

/// The name of the kind: "perform", "task_offered".
[[nodiscard]] std::string_view name_of_kind(trace_kind k) noexcept;
/// The name of the reason: "woken", "handed over".
[[nodiscard]] std::string_view name_of_reason(put_reason r) noexcept;

/// Writes a line for each event: a JSON object with the fields that the event has.  O(n); allocates
/// a line.  Throws std::runtime_error if the stream fails.
void write_json_lines(std::span<trace_event const> events, std::ostream& to);

/// A trace that was read from a file.
struct stored_trace {
  std::vector<trace_event> events;           ///< In the order of the file.
  std::set<std::string, std::less<>> texts;  ///< The strings that the events refer to.
};
/// Reads a file of write_json_lines.  O(n log n); allocates the events and their texts.  Throws
/// std::runtime_error, which names the line, at a line that write_json_lines has not written.
[[nodiscard]] stored_trace read_json_lines(std::istream& from);

/// Writes the trace event format of Chrome and Perfetto (ui.perfetto.dev opens it): a track for
/// each thread, with a slice for each step of a process, which names the process and the operation
/// that it goes on from; arrows from a message to its receipt, from the put of a woken process to
/// its step, and from one thread to another one that steals; for each thread a counter of the
/// processes that it has put and no thread has taken; and instants for all else.  Times are in
/// microseconds.  O(n log n); allocates tables of threads, processes and mailboxes.  Throws
/// std::runtime_error if the stream fails.
///
/// Source: "Trace Event Format", the Catapult project.
void write_perfetto(std::span<trace_event const> events, std::ostream& to);

/// Writes a page that shows the trace in a browser, without a network: the run queue, the source
/// line of each process, the output so far, the handlers, and the processes on a timeline.  The
/// page can be stepped through, forward and back.  Source files of the program are read from the
/// working directory, or from the workspace if Bazel runs the program; a page without them shows no
/// source.  `dropped`: how many events the trace has lost, which the page says.  O(n log n), and
/// the size of the source files; allocates tables of both.  Throws std::runtime_error if the stream
/// fails.
void write_page(std::span<trace_event const> events, std::ostream& to, std::uint64_t dropped = 0);

/// A run on a page; and, if an explorer has made the run, the steps of its schedule.
struct page_run {
  std::string title;                    ///< Its heading on the page.
  std::span<trace_event const> events;  ///< Its trace.
  std::vector<std::string> steps;  ///< Each step in words; the n-th `take` event begins the n-th.
};
/// A page with several runs.
struct trace_page {
  std::vector<page_run> runs;                      ///< At least one.
  std::vector<std::vector<std::string>> outcomes;  ///< The rows of a table: all outcomes there are.
  std::uint64_t dropped = 0;                       ///< How many events the traces have lost.
};
void write_page(trace_page const& page, std::ostream& to);

/// Writes the trace to a file, in the format that the ending of its name says: `.html` for
/// write_page, `.json` for write_perfetto, `.jsonl` for write_json_lines.  O(n log n); allocates as
/// these do.  Throws std::invalid_argument for any other ending; std::runtime_error if the file
/// cannot be written.
void write_trace(trace const& t, std::string const& file);
void write_trace(std::span<trace_event const> events, std::string const& file,
                 std::uint64_t dropped = 0);

}  // namespace weft
