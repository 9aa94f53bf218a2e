// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <coroutine>
#include <source_location>
#include <string_view>

#include "weft/effects/detail/forwarding_clause.hpp"
#include "weft/sched/base/detail/trace_buffer.hpp"
#include "weft/sched/base/process.hpp"
#include "weft/sched/base/trace_event.hpp"
#include "weft/sched/runtime/detail/outer/interposed.hpp"

/// A tracing_hook stands in front of each handler that the processes of a traced scheduler `S`
/// perform to: the scheduler itself, and the handlers outside it.  The hook adds the operations to
/// the trace.
namespace weft::detail {

/// The text of an operation, for a trace: the result of trace_text(operation), if such a function
/// is declared beside the operation; else empty.
template <class O>
[[nodiscard]] std::string_view text_to_trace([[maybe_unused]] O const& o) noexcept {
  if constexpr (requires {
                  { trace_text(o) } noexcept -> std::convertible_to<std::string_view>;
                })
    return trace_text(o);
  else
    return {};
}

template <class S, class F>
class tracing_hook {
 public:
  /// `at`: the prompt of the handler that answers; null if no handler does.
  tracing_hook(S& home, evidence<F>* handler, prompt const* at) noexcept
      : home_(home),
        handler_(handler),
        name_(at ? at->handler_name() : std::string_view()),
        by_{.at = &home,
            .further_out = at ? home.base().handlers.place_of(*at) : std::uint16_t{0}} {}

  [[nodiscard]] evidence<F>* handler() const noexcept { return handler_; }
  [[nodiscard]] S& home() const noexcept { return home_; }
  template <class O>
  bool attempt(O& o, result_slot<typename O::result>& waiting) const {
    note<O>(trace_kind::perform, waiting.where, text_to_trace(o));
    if (!answered_at_once<F, O>(*handler_, o, waiting)) return false;
    note<O>(trace_kind::answer, waiting.where);
    return true;
  }
  template <class O>
  typename O::result ask(passed<O> o, std::source_location where) const {
    note<O>(trace_kind::perform, where, text_to_trace(o));
    return ask_outward<F, O>(*handler_, static_cast<passed<O>>(o), where);
  }
  template <class O>
  std::coroutine_handle<> control(O& o, std::coroutine_handle<> leaf,
                                  result_slot<typename O::result>& waiting) const {
    note<O>(trace_kind::suspend, waiting.where);
    return handler_->template clause<O>().control(*handler_, o, leaf, waiting);
  }

 private:
  template <class O>
  void note(trace_kind kind, std::source_location where,
            std::string_view text = {}) const noexcept {
    if (!home_.running_here()) return;
    trace_event e{.process = home_.running().id(),
                  .operation = name_of<O>,
                  .handler = name_,
                  .file = where.file_name(),
                  .text = home_.worker().keep_traced(text),
                  .line = where.line(),
                  .kind = kind,
                  .is_replayed = home_.log_of_running().replaying()};
    home_.worker().note_handlers(e, by_);
    S::observer::on_event(home_, e);
  }

  S& home_;
  evidence<F>* handler_;
  std::string_view name_;
  answering by_;
};

}  // namespace weft::detail
