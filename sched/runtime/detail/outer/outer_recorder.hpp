// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <source_location>

#include "weft/effects/detail/forwarding_clause.hpp"
#include "weft/sched/runtime/detail/outer/interposed.hpp"
#include "weft/sched/runtime/detail/scheduler_core.hpp"

/// The hook between forkable processes and a handler outside the scheduler: it records the answers
/// of that handler.
namespace weft::detail {

template <class F>
class outer_recorder {
 public:
  outer_recorder(scheduler_core& home, evidence<F>* handler) noexcept
      : home_(home), handler_(handler) {}

  [[nodiscard]] evidence<F>* handler() const noexcept { return handler_; }
  [[nodiscard]] scheduler_core& home() const noexcept { return home_; }
  template <class O>
  bool attempt(O& o, result_slot<typename O::result>& waiting) const {
    return forward_attempt<F>(*this, o, waiting);
  }
  template <class O>
  typename O::result ask(passed<O> o, std::source_location where) const {
    return forward_asked<F, O>(*this, static_cast<passed<O>>(o), where);
  }
  template <class O>
  std::coroutine_handle<> control(O& o, std::coroutine_handle<> leaf,
                                  result_slot<typename O::result>& waiting) const {
    return forward_suspending<F>(*this, o, leaf, waiting);
  }

  // ---- as a recorder (forwarding_clause.hpp)

  [[nodiscard]] replay_log& log() const noexcept { return home_.log_of_running(); }
  [[nodiscard]] evidence<F>& target() const noexcept { return *handler_; }
  // A handler outside a scheduler answers at once: there is no answer to wait for.
  void await_answer(site const&, result_slot_base&) const noexcept {}
  void answer_is_here() const noexcept {}
  std::coroutine_handle<> end_diverged(std::coroutine_handle<> leaf, site const& at) const {
    return home_.end_diverged(leaf, at);
  }

 private:
  scheduler_core& home_;
  evidence<F>* handler_;
};

}  // namespace weft::detail
