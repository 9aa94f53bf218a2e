// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "weft/effects/handle.hpp"
#include "weft/sched/base/process_id.hpp"
#include "weft/sched/base/trace_event.hpp"

namespace weft::detail {

/// The handler that answers an operation, for the stack of handlers in the operation's event.
struct answering {
  /// The prompt of the handler; null if only the handler is known.
  prompt const* at = nullptr;
  /// Whether the frames up to that prompt have been captured for its clause.
  bool has_captured = false;
  void const* handler = nullptr;
  /// How many handlers further out than that prompt the answering handler is.
  std::uint16_t further_out = 0;

  [[nodiscard]] bool is(prompt const& p) const noexcept { return at ? &p == at : p.is_of(handler); }
};

/// The events of one thread.  Only that thread adds events; they are read when it adds none.
///
/// Events are never moved: they lie in blocks, and the text of an operation lies behind other texts
/// in blocks of its own.  If the buffer is full, or there is no memory, an event is dropped and
/// counted.
class trace_buffer {
 public:
  using clock = std::chrono::steady_clock;

  /// Throws bad_alloc.
  trace_buffer(trace const& home, std::uint16_t worker, std::size_t most_events,
               std::size_t most_text, clock::time_point begin);
  trace_buffer(trace_buffer const&) = delete;
  trace_buffer& operator=(trace_buffer const&) = delete;
  ~trace_buffer();

  /// Adds the event, with the time and the number of the thread.  O(1).  Allocates a block of 1024
  /// events when the last one is full.
  void add(trace_event const& e) noexcept {
    if (next_ == end_) [[unlikely]]
      if (!grow()) return;
    trace_event* const kept = ::new (next_++) trace_event(e);
    kept->time = std::chrono::nanoseconds(clock::now() - begin_).count();
    kept->worker = worker_;
    if (e.kind == trace_kind::resume) running_ = e.process;
  }
  /// Sets e.under, the handlers around the running code, and e.depth, the number of those inside
  /// the handler `by`, which answers.  If e.under is set already, only copies its text.  Without
  /// memory, leaves e.under empty.  O(handlers).
  void note_handlers(trace_event& e, answering const& by) noexcept;
  /// Copies the text, and returns the copy; empty if there is no room for it.
  [[nodiscard]] std::string_view keep(std::string_view text) noexcept;

  /// Keeps the short name of a process's function, and returns it; empty if there is no memory.
  [[nodiscard]] std::string_view keep_name(process_id id, std::string_view function) noexcept;
  /// Whether keep_name() was called for the process.
  [[nodiscard]] bool has_named(process_id id) const noexcept { return named_.contains(id.hash()); }

  [[nodiscard]] bool is_of(trace const& t) const noexcept { return &home_ == &t; }
  [[nodiscard]] std::uint16_t worker() const noexcept { return worker_; }
  /// The process that runs on this thread, for events of code that does not know it.
  [[nodiscard]] process_id running() const noexcept { return running_; }
  [[nodiscard]] std::uint64_t dropped() const noexcept { return dropped_; }
  [[nodiscard]] std::uint64_t texts_dropped() const noexcept { return texts_dropped_; }
  /// Appends all events to `to`.
  void copy_to(std::vector<trace_event>& to) const;

  /// The buffer of the calling thread, while it runs processes of a traced scheduler; else null.
  [[gnu::visibility("default")]] static inline constinit thread_local trace_buffer* of_thread =
      nullptr;

 private:
  static constexpr std::size_t events_in_block = 1024;
  static constexpr std::size_t chars_in_block = 16'384;
  struct block {
    alignas(trace_event) std::byte bytes[events_in_block * sizeof(trace_event)];
  };
  struct text_block {
    std::unique_ptr<char[]> chars;
    std::size_t used;
    std::size_t size;
  };

  /// The names of handlers that events refer to.
  struct noted_handlers;

  bool grow() noexcept;

  trace_event* next_ = nullptr;
  trace_event* end_ = nullptr;
  trace const& home_;
  clock::time_point begin_;
  process_id running_{};
  std::size_t events_left_;
  std::size_t text_left_;
  std::uint64_t dropped_ = 0;
  std::uint64_t texts_dropped_ = 0;
  std::vector<std::unique_ptr<block>> blocks_;
  std::vector<text_block> texts_;
  std::unique_ptr<noted_handlers> const handlers_;
  std::unordered_set<std::uint64_t> named_;  // hashes of the ids for which keep_name() was called
  std::uint16_t worker_;
};

/// Adds an event to the trace of the calling thread, if there is one.  For slow paths.
inline void note_traced(trace_event const& e) noexcept {
  if (auto* const b = trace_buffer::of_thread) [[unlikely]]
    b->add(e);
}

/// Makes `b` the buffer of the calling thread, until the end of the scope.
class trace_buffer_here {
 public:
  explicit trace_buffer_here(trace_buffer* b) noexcept
      : before_(std::exchange(trace_buffer::of_thread, b)) {}
  trace_buffer_here(trace_buffer_here const&) = delete;
  trace_buffer_here& operator=(trace_buffer_here const&) = delete;
  ~trace_buffer_here() { trace_buffer::of_thread = before_; }

 private:
  trace_buffer* before_;
};

}  // namespace weft::detail
