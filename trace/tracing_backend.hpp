// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "weft/sched/backends/one_thread.hpp"
#include "weft/sched/base/backend.hpp"
#include "weft/sched/base/detail/observer.hpp"
#include "weft/sched/base/detail/trace_buffer.hpp"
#include "weft/sched/base/process.hpp"
#include "weft/sched/base/trace_event.hpp"
#include "weft/sched/runtime/scheduler.hpp"
#include "weft/trace/detail/tracing_observer.hpp"
#include "weft/trace/trace.hpp"

namespace weft {

/// A backend that does the same as `Backend`, and keeps a trace.  So a scheduler is traced without
/// a change to its program, and a scheduler that is not traced has no instruction for tracing.
///
///     weft::trace t;
///     schedule<tracing<>>({.trace = &t}, program, handlers...);
///     schedule<tracing<stealing>>({.threads = 2, .trace = &t}, program, handlers...);
///
/// The trace has what the scheduler does with its processes, the operations that they perform to it
/// and to the handlers outside it, and what threads do: trace_kind lists all events.  Without a
/// trace in the options, nothing is kept.
///
/// Each event is O(1).  Allocates as the buffers of the trace grow.  It is as thread safe as
/// `Backend`.
template <backend Backend = one_thread>
class tracing : public Backend {
 public:
  /// The options of `Backend`, if it has its own; else schedule_options.
  using options = typename detail::options_for<Backend>::type;

  tracing() : tracing(options()) {}
  /// Passes the other arguments to the backend.
  template <class... Args>
    requires std::constructible_from<Backend, Args...>
  explicit tracing(weft::trace& t, Args&&... args)
      : Backend(std::forward<Args>(args)...), trace_(&t) {}
  explicit tracing(options const& o)
    requires std::constructible_from<Backend, options const&>
      : Backend(o), trace_(o.trace) {}
  explicit tracing(options const& o)
    requires(!std::constructible_from<Backend, options const&>)
      : trace_(o.trace) {}

  class worker : public Backend::worker {
    using base = typename Backend::worker;

   public:
    worker(tracing& home, unsigned index)
        : base(home, index),
          trace_(home.trace_),
          buffer_(trace_ ? &trace_->open(static_cast<std::uint16_t>(index)) : nullptr) {}
    worker(worker const&) = delete;
    worker& operator=(worker const&) = delete;
    ~worker() {
      if (buffer_) trace_->close(*buffer_);
    }

    void put(thunk&& t, put_reason why) {
      if (buffer_) trace_put(t, why);
      base::put(std::move(t), why);
    }
    thunk take(instant until, quiescence_test quiescent) {
      return note_taken(base::take(until, quiescent));
    }
    /// Takes a process by take_any() of an explorer's backend (controlled_backend.hpp).
    template <class HasAnswer>
    thunk take_any(instant until, quiescence_test quiescent, HasAnswer has_answer) {
      return note_taken(base::take_any(until, quiescent, has_answer));
    }
    thunk exchange(thunk t) noexcept
      requires exchanging_backend<Backend>
    {
      if (buffer_) trace_put(t, put_reason::yielded);
      return note_taken(base::exchange(std::move(t)));
    }
    template <class Next>
      requires lazy_backend<Backend>
    [[nodiscard]] lazy_push push_lazy(std::size_t n, Next next) noexcept {
      lazy_push const how = base::push_lazy(n, next);
      if (buffer_ && how != lazy_push::no_room)
        trace({.process = buffer_->running(), .value = n, .kind = trace_kind::task_offered});
      return how;
    }
    [[nodiscard]] lazy_task* reclaim() noexcept
      requires lazy_backend<Backend>
    {
      lazy_task* const o = base::reclaim();
      if (o && buffer_) trace({.process = buffer_->running(), .kind = trace_kind::task_taken});
      return o;
    }

    // ---- for the observer

    void trace(trace_event const& e) noexcept {
      if (buffer_) buffer_->add(e);
    }
    void note_handlers(trace_event& e, detail::answering const& by) noexcept {
      if (buffer_) buffer_->note_handlers(e, by);
    }
    [[nodiscard]] detail::trace_buffer_here trace_here() const noexcept {
      return detail::trace_buffer_here(buffer_);
    }
    [[nodiscard]] std::string_view keep_traced(std::string_view text) noexcept {
      return buffer_ ? buffer_->keep(text) : std::string_view();
    }

   private:
    void trace_put(thunk const& t, put_reason why) noexcept {
      trace_event e = event_of_put(t, why);
      process const& p = *t.get();
      if (auto const f = buffer_->has_named(p.id()) ? std::string_view() : p.function(); !f.empty())
        e.text = buffer_->keep_name(p.id(), f);
      buffer_->add(e);
    }
    thunk note_taken(thunk t) noexcept {
      if (t && buffer_) buffer_->add(event_of(*t.get(), trace_kind::take));
      return t;
    }

    weft::trace* trace_;
    detail::trace_buffer* buffer_;
  };

  void put(thunk&& t, put_reason why) {
    trace_outside(event_of_put(t, why));
    Backend::put(std::move(t), why);
  }
  template <class Reserved>
    requires reserving_backend<Backend>
  void put(thunk&& t, put_reason why, Reserved in) noexcept {
    trace_outside(event_of_put(t, why));
    Backend::put(std::move(t), why, std::move(in));
  }

  void trace_outside(trace_event const& e) noexcept {
    if (trace_) trace_->add_outside(e);
  }

  // ---- for the library

  using observer = detail::tracing_observer<detail::observer_of<Backend>>;
  detail::handlers_outside handlers;

  void on_run_end() noexcept {
    if (trace_) trace_->on_run_end();
  }

 private:
  static trace_event event_of(process const& p, trace_kind what) noexcept {
    auto const at = p.resumes_at();
    return {.process = p.id(),
            .operation = at.operation,
            .file = at.where.file_name(),
            .line = at.where.line(),
            .kind = what};
  }
  static trace_event event_of_put(thunk const& t, put_reason why) noexcept {
    trace_event e = event_of(*t.get(), trace_kind::put);
    e.value = t.answer();
    e.reason = why;
    return e;
  }

  weft::trace* trace_;
};

}  // namespace weft
