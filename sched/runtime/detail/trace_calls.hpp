// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>

#include "weft/effects/handle.hpp"
#include "weft/sched/base/detail/worker_state.hpp"
#include "weft/sched/base/process.hpp"
#include "weft/sched/base/trace_event.hpp"

namespace weft::detail {

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

}  // namespace weft::detail
