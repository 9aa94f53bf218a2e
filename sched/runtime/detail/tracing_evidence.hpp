// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <coroutine>
#include <exception>
#include <source_location>
#include <string_view>

#include "weft/effects/detail/forwarding_clause.hpp"
#include "weft/sched/base/detail/answering.hpp"
#include "weft/sched/base/process.hpp"
#include "weft/sched/base/trace_event.hpp"
#include "weft/sched/runtime/detail/outer_recorder.hpp"
#include "weft/sched/runtime/detail/trace_calls.hpp"

/// Where a scheduler `S` is traced, evidence of this kind stands in front of each handler that its
/// processes perform to: of the scheduler itself, and of the handlers outside.  It adds the
/// operations to the trace.  With other backends nothing of it exists.
namespace weft::detail {

/// The text of an operation, for a trace: an operation gives it by a function trace_text(operation)
/// beside it.
template <class O>
[[nodiscard]] std::string_view text_to_trace([[maybe_unused]] O const& o) noexcept {
  if constexpr (requires {
                  { trace_text(o) } noexcept -> std::convertible_to<std::string_view>;
                })
    return trace_text(o);
  else
    return {};
}

/// Adds to the trace that the process has failed, unless the error is a consequence of an earlier
/// failure.
template <class S>
void trace_failure(S& s, process const& p, std::exception_ptr const& error) noexcept {
  if (s.cancellation.is_of_all()) return;
  std::string_view why = "an exception";
  try {
    std::rethrow_exception(error);
  } catch (std::exception const& e) {
    why = keep_traced(s, e.what());
  } catch (...) {  // it says nothing
  }
  add_to_trace(s, {.process = p.id(), .text = why, .kind = trace_kind::fail});
  add_to_trace(s, {.kind = trace_kind::cancel});
}

template <class S, class F>
class tracing_evidence final : public expirable_evidence {
 public:
  /// `at`: the prompt of the handler that answers; `beyond`: that of the next one, null if there is
  /// none.
  tracing_evidence(S& home, evidence<F>& target, prompt const& at, prompt const* beyond) noexcept
      : nearest_(home, &target, &at), next_(home, target.clauses->beyond(target), beyond) {
    if (next_.target) nearest_.next = &next_;
  }
  [[nodiscard]] evidence<F>* stand_in() noexcept { return &nearest_; }
  void expire() noexcept override {
    nearest_.clauses = next_.clauses = &expired_table<via, F>::value;
  }

 private:
  struct stand_in_evidence : evidence<F> {
    stand_in_evidence(S& h, evidence<F>* t, prompt const* at) noexcept
        : evidence<F>{&stand_in_table<clause, via, F>::value},
          home(h),
          target(t),
          handler(at ? at->handler_name() : std::string_view()),
          by{.at = &h, .further_out = at ? h.outside_.place_of(*at) : std::uint16_t{0}} {}
    S& home;
    evidence<F>* target;
    std::string_view handler;
    answering by;
    stand_in_evidence* next = nullptr;
  };
  struct via {
    static prompt& home(evidence<F>& e) noexcept { return of(e).home; }
    static evidence<F>* beyond(evidence<F>& e) noexcept { return of(e).next; }
  };
  static stand_in_evidence& of(evidence<F>& e) noexcept {
    return static_cast<stand_in_evidence&>(e);
  }

  template <class O>
  struct clause {
    using R = typename O::result;

    static void trace(stand_in_evidence& at, trace_kind kind, std::source_location where,
                      std::string_view text = {}) noexcept {
      S& s = at.home;
      if (!s.running_here()) return;
      trace_event e{.process = s.running().id(),
                    .operation = name_of<O>,
                    .handler = at.handler,
                    .file = where.file_name(),
                    .text = keep_traced(s, text),
                    .line = where.line(),
                    .kind = kind,
                    .is_replayed = s.log_of_running().replaying()};
      s.worker().note_handlers(e, at.by);
      add_to_trace(s, e);
    }
    static bool attempt(evidence<F>& e, O& o, result_slot<R>& waiting) {
      stand_in_evidence& at = of(e);
      trace(at, trace_kind::perform, waiting.where, text_to_trace(o));
      if (!answered_at_once<F, O>(*at.target, o, waiting)) return false;
      trace(at, trace_kind::answer, waiting.where);
      return true;
    }
    static R when_asked(evidence<F>& e, passed<O> o, std::source_location where) {
      stand_in_evidence& at = of(e);
      trace(at, trace_kind::perform, where, text_to_trace(o));
      return ask_outward<F, O>(*at.target, static_cast<passed<O>>(o), where);
    }
    static std::coroutine_handle<> control(evidence<F>& e, O& o, std::coroutine_handle<> leaf,
                                           result_slot<R>& waiting) {
      stand_in_evidence& at = of(e);
      trace(at, trace_kind::suspend, waiting.where);
      return at.target->template clause<O>().control(*at.target, o, leaf, waiting);
    }
  };

  stand_in_evidence nearest_;
  stand_in_evidence next_;
};

}  // namespace weft::detail
