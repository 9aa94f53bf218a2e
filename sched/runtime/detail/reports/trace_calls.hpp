// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "weft/effects/handle.hpp"
#include "weft/sched/base/detail/worker_state.hpp"
#include "weft/sched/base/process.hpp"
#include "weft/sched/base/thunk.hpp"
#include "weft/sched/base/trace_event.hpp"

namespace weft::detail {

/// For a trace: the handlers outside the scheduler, the innermost first.
struct handlers_outside {
  std::string names{"weft::scheduler"};  // the scheduler itself, and these handlers, a line each
  std::vector<prompt const*> prompts;

  /// Notes the handlers inside `outermost`, whose body is suspended.
  void note(prompt const& outermost) {
    for (prompt const* p = outermost.innermost_inside(); p != &outermost; p = p->up()) {
      names.append("\n").append(p->handler_name());
      prompts.push_back(p);
    }
  }
  /// How many of them a process leaves behind on the way from the scheduler to the handler of `p`,
  /// that one included; 0 for the scheduler.
  [[nodiscard]] std::uint16_t place_of(prompt const& p) const noexcept {
    auto const at = std::ranges::find(prompts, &p);
    return at == prompts.end() ? std::uint16_t{0}
                               : static_cast<std::uint16_t>(at - prompts.begin() + 1);
  }
};

/// What a scheduler `S` says to the trace of its backend.  If the backend keeps none, the functions
/// are empty: nothing is left of a call when it is compiled.

template <class S>
void add_to_trace([[maybe_unused]] S& s, [[maybe_unused]] trace_event const& e) noexcept {
  if constexpr (S::traces) {
    if constexpr (S::on_several_threads) {
      worker_state* const w = worker_state::of_thread;
      if (!w || w->home != &s) return s.base().trace_outside(e);
      s.worker().trace(e);
    } else if (s.worker_) {
      s.worker_->trace(e);
    }
  }
}
template <class S>
void trace_resume([[maybe_unused]] S& s, [[maybe_unused]] process const& p,
                  [[maybe_unused]] std::uint64_t answer) noexcept {
  if constexpr (S::traces) {
    auto const at = p.resumes_at();
    add_to_trace(s, {.process = p.id(),
                     .operation = at.operation,
                     .file = at.where.file_name(),
                     .value = answer,
                     .line = at.where.line(),
                     .kind = trace_kind::resume});
  }
}
/// The result exists while processes run on this thread.
template <class S>
[[nodiscard]] auto trace_here([[maybe_unused]] S& s) noexcept {
  if constexpr (S::traces)
    return s.worker().trace_here();
  else
    return nothing();
}
template <class S>
[[nodiscard]] std::string_view keep_traced([[maybe_unused]] S& s,
                                           [[maybe_unused]] std::string_view text) noexcept {
  if constexpr (S::traces)
    return s.worker().keep_traced(text);
  else
    return {};
}

/// The parts of a queue, whose elements are thunks: for each run of elements that lie together, its
/// address and the processes: "5f00:1,1.1;6a80:1.2".  Versions of a persistent deque share a part
/// exactly if elements of both have the same address.  O(n).
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
/// Adds to the trace that a version of the queue is kept, or takes the place of the queue.
template <class S, class Queue>
void trace_version([[maybe_unused]] S& s, [[maybe_unused]] trace_kind what,
                   [[maybe_unused]] Queue const& q) {
  if constexpr (S::traces)
    add_to_trace(s, {.text = keep_traced(s, describe_parts(q)), .kind = what});
}

}  // namespace weft::detail
