// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "weft/sched/base/trace_event.hpp"

namespace weft {

namespace detail {
class trace_buffer;
struct answering;
}  // namespace detail

/// The limits of a trace, and its file.
struct trace_options {
  std::size_t max_events = std::size_t{1} << 20;  ///< Most events on each thread.
  std::size_t max_text = std::size_t{1} << 24;    ///< Most bytes of text on each thread.
  /// The file to which the trace is written at the end of each run, before the run throws, as by
  /// write_trace (trace_files.hpp); none if empty.  If writing fails, a line on stderr says so.
  std::string_view file{};
};

/// The events of a traced scheduler (tracing.hpp) and of traced handlers (traced_handler.hpp).
///
///     weft::trace t;
///     schedule<tracing<>>({.trace = &t}, program, handlers...);
///     for (trace_event const& e : t.events() | std::views::filter(...)) ...
///
/// Each thread has a buffer, which grows up to the limits; further events and texts are dropped,
/// and counted.  A trace may be used for several schedulers, one after the other or at once; it
/// must outlive them.  Do not call the functions of a trace while one of its schedulers runs.
/// Allocates a buffer for each thread.
class trace {
 public:
  explicit trace(trace_options const& limits = {});
  trace(trace const&) = delete;
  trace& operator=(trace const&) = delete;
  ~trace();

  /// All events, in the order of their times; events of one thread with the same time are in the
  /// order in which they were added.  O(events * threads); allocates the vector.
  [[nodiscard]] std::vector<trace_event> events() const;
  /// How many events were dropped, as a buffer was full or there was no memory.  O(threads).
  [[nodiscard]] std::uint64_t dropped() const;
  /// How many texts were dropped: their events have an empty text.  O(threads).
  [[nodiscard]] std::uint64_t texts_dropped() const;

  // ---- for the library

  /// A buffer for the thread with the number `worker`.  No other thread uses the buffer until
  /// close().  Thread safe.  Throws bad_alloc.
  [[nodiscard]] detail::trace_buffer& open(std::uint16_t worker);
  /// Gives the buffer back: a later open() with the same number returns it.  Thread safe.
  void close(detail::trace_buffer& b) noexcept;
  /// Adds an event of a thread that has no buffer.  `by`: the handler that answers the operation of
  /// the event; null if it has none.  Thread safe.
  void add_outside(trace_event e, detail::answering const* by = nullptr) noexcept;
  /// Writes trace_options::file, if it is not empty.
  void on_run_end() noexcept;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace weft
