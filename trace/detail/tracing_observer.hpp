// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "weft/effects/handle.hpp"
#include "weft/sched/base/detail/worker_state.hpp"
#include "weft/sched/base/process.hpp"
#include "weft/sched/base/thunk.hpp"
#include "weft/sched/base/trace_event.hpp"
#include "weft/trace/detail/tracing_hook.hpp"

namespace weft::detail {

/// The handlers outside the scheduler, the innermost first.
struct handlers_outside {
  std::string names{"weft::scheduler"};  // the scheduler, then these handlers, a line each
  std::vector<prompt const*> prompts;

  /// Notes the handlers inside the prompt `outermost`, whose body is suspended.
  void note(prompt const& outermost) {
    for (prompt const* p = outermost.innermost_inside(); p != &outermost; p = p->up()) {
      names.append("\n").append(p->handler_name());
      prompts.push_back(p);
    }
  }
  /// The place of the handler of `p` outside the scheduler, counted outwards from 1; 0 for the
  /// scheduler.
  [[nodiscard]] std::uint16_t place_of(prompt const& p) const noexcept {
    auto const at = std::ranges::find(prompts, &p);
    return at == prompts.end() ? std::uint16_t{0}
                               : static_cast<std::uint16_t>(at - prompts.begin() + 1);
  }
};

/// Describes the parts of a queue of thunks.  For each run of elements that are adjacent in memory,
/// gives its address and its processes: "5f00:1,1.1;6a80:1.2".  Two versions of a persistent deque
/// share a part exactly if elements of both have the same address.  O(n).
template <class Queue>
[[nodiscard]] std::string describe_parts(Queue const& q) {
  std::string text;
  void const* next = nullptr;
  for (thunk const& t : q) {
    if (&t == next) {
      text += ',';
    } else {
      char address[24];
      std::snprintf(address, sizeof address, "%s%jx:", text.empty() ? "" : ";",
                    static_cast<std::uintmax_t>(std::bit_cast<std::uintptr_t>(&t)));
      text += address;
    }
    text += t.get()->id().text();
    next = &t + 1;
  }
  return text;
}

/// The observer of tracing<Backend>: adds the events of the scheduler `S` to the trace.  `Base`,
/// the observer of `Backend`, does all else.
template <class Base>
struct tracing_observer : Base {
  static constexpr bool is_there = true;
  static constexpr bool keeps_trace = true;

  template <class S>
  static void on_event(S& s, trace_event const& e) noexcept {
    if constexpr (S::on_several_threads) {
      worker_state* const w = worker_state::of_thread;
      if (!w || w->home != &s) return s.base().trace_outside(e);
      s.worker().trace(e);
    } else if (s.worker_) {
      s.worker_->trace(e);
    }
  }
  template <class S>
  static void on_handlers(S& s, auto& find) {
    if constexpr (requires { find.outermost(); }) s.base().handlers.note(find.outermost());
  }
  template <class S>
  static void on_start(S& s, process const& child) noexcept {
    add_child(s, trace_kind::spawn, child);
  }
  template <class S>
  static void on_fork(S& s, auto& parent, auto& clone) noexcept {
    if constexpr (!Base::keeps_trace) Base::on_fork(s, parent, clone);
    add_child(s, trace_kind::fork, clone);
  }
  template <class S>
  static void on_resume(S& s, process const& p, std::uint64_t answer) noexcept {
    auto const at = p.resumes_at();
    on_event(s, {.process = p.id(),
                 .operation = at.operation,
                 .file = at.where.file_name(),
                 .value = answer,
                 .line = at.where.line(),
                 .kind = trace_kind::resume});
  }
  /// Adds the failure, and the cancellation that follows.  Adds nothing if all processes have been
  /// cancelled before: then the error is a consequence of that.
  template <class S>
  static void on_failure(S& s, process const& p, std::exception_ptr const& error) noexcept {
    if (s.cancellation.is_of_all()) return;
    std::string_view why = "an exception";
    try {
      std::rethrow_exception(error);
    } catch (std::exception const& e) {
      why = s.worker().keep_traced(e.what());
    } catch (...) {  // not a std::exception: it has no text
    }
    on_event(s, {.process = p.id(), .text = why, .kind = trace_kind::fail});
    on_event(s, {.kind = trace_kind::cancel});
  }
  template <class S>
  static void on_message(S& s, trace_kind what, process const& p, auto const& box) noexcept {
    on_event(s, {.process = p.id(), .object = std::bit_cast<std::uintptr_t>(&box), .kind = what});
  }
  template <class S, class Queue>
  static void on_version(S& s, trace_kind what, Queue const& q) {
    on_event(s, {.text = s.worker().keep_traced(describe_parts(q)), .kind = what});
  }
  static void on_run_end(auto& s) noexcept { s.base().on_run_end(); }
  static auto here(auto& s) noexcept { return s.worker().trace_here(); }

  template <class F, class S>
  static evidence<F>* in_front(S& s, evidence<F>& handler, prompt const& at, prompt const* next) {
    using hook = tracing_hook<S, F>;
    return interpose<F>(s, hook(s, &handler, &at), hook(s, beyond(handler), next));
  }

 private:
  /// Adds an event for the start of `child`, by the running process; or, if none runs, by itself.
  template <class S>
  static void add_child(S& s, trace_kind how, process const& child) noexcept {
    process_id const by = s.running_here() ? s.running().id() : child.id();
    trace_event e{.process = by, .other = child.id(), .kind = how};
    if (child.id() == process_id()) {
      e.under = s.base().handlers.names;
      if constexpr (!S::on_several_threads) s.worker().note_handlers(e, {});
    }
    on_event(s, e);
  }
};

}  // namespace weft::detail
