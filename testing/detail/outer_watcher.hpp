// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <cstddef>
#include <exception>
#include <source_location>
#include <vector>

#include "weft/effects/detail/forwarding_clause.hpp"
#include "weft/sched/base/detail/location_listener.hpp"
#include "weft/sched/runtime/detail/outer/interposed.hpp"
#include "weft/testing/detail/small_steps.hpp"

/// Where schedules are explored, an outer_watcher stands in front of each handler outside the
/// scheduler `S`.  All processes share the handler, so it is a location, and each operation is an
/// access to it.  The exception is a handler that reports its own accesses (outer_handlers.hpp) and
/// performs to no handler further out.
namespace weft::detail {

/// Adds the prompts of the handlers further out than `p` to `to`, except those that `to` has
/// already.  Throws bad_alloc.
void add_new_outers(prompt const& p, std::vector<prompt*>& to);

template <class S, class F>
class outer_watcher {
 public:
  /// `far`: whether the handler may perform to handlers further out.  `tells`: whether the handler
  /// reports its own accesses.
  outer_watcher(S& home, evidence<F>* handler, bool far, bool tells)
      : home_(home), handler_(handler) {
    if (!handler || (!far && tells)) return;
    uses_.push_back(&handler->clauses->prompt_of(*handler));
    for (std::size_t i = 0; far && i != uses_.size(); ++i) add_new_outers(*uses_[i], uses_);
  }
  /// Reports the handler as a new location.  Called for the handler nearest to the scheduler, which
  /// no process has used yet.
  void note_created() const noexcept {
    if (!uses_.empty()) weft::detail::note_created(uses_.front());
  }

  [[nodiscard]] evidence<F>* handler() const noexcept { return handler_; }
  [[nodiscard]] S& home() const noexcept { return home_; }
  template <class O>
  bool attempt(O& o, result_slot<typename O::result>& waiting) const {
    if (has_small_steps(home_)) return false;
    note_use();
    return answered_at_once<F, O>(*handler_, o, waiting);
  }
  template <class O>
  typename O::result ask(passed<O> o, std::source_location where) const {
    note_use();
    return ask_outward<F, O>(*handler_, static_cast<passed<O>>(o), where);
  }
  template <class O>
  std::coroutine_handle<> control(O& o, std::coroutine_handle<> leaf,
                                  result_slot<typename O::result>& waiting) {
    if (!has_small_steps(home_))
      return handler_->template clause<O>().control(*handler_, o, leaf, waiting);
    if (!suspend_before(home_, o, leaf, waiting)) {
      // Ordinary code stands between process and operation: the operation is answered or throws.
      note_use();
      if (answered_at_once<F, O>(*handler_, o, waiting)) return leaf;
      home_.throw_across(name_of<O>, waiting.where);
    }
    return put_pending(home_, {perform_pending<O>, this, &o, &waiting, leaf});
  }

 private:
  void note_use() const noexcept {
    for (prompt const* const p : uses_) note_access(p, true);
  }
  template <class O>
  static std::coroutine_handle<> perform_pending(void* scheduler, process& p,
                                                 pending_operation const& self) {
    S& s = *static_cast<S*>(scheduler);
    auto const& w = *static_cast<outer_watcher const*>(self.handler);
    O& o = *static_cast<O*>(self.operation);
    auto& waiting = *static_cast<result_slot<typename O::result>*>(self.waiting);
    try {
      w.note_use();
      if (!answered_at_once<F, O>(*w.handler_, o, waiting)) {
        p.resume_unanswered(s);
        return w.handler_->template clause<O>().control(*w.handler_, o, self.leaf, waiting);
      }
    } catch (...) {
      waiting.fail(std::current_exception());
      if (!p.is_suspended()) return self.leaf;
    }
    if (p.is_forkable()) record_answer<O>(s.log_of_running(), site_of(o, waiting.where), waiting);
    return p.resume_slow(0, s);
  }

  S& home_;
  evidence<F>* handler_;
  std::vector<prompt*> uses_;
};

}  // namespace weft::detail
