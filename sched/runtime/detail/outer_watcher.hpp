// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <cstddef>
#include <exception>
#include <source_location>
#include <vector>

#include "weft/effects/detail/forwarding_clause.hpp"
#include "weft/sched/base/detail/location_listener.hpp"
#include "weft/sched/base/detail/pending_operation.hpp"
#include "weft/sched/runtime/detail/outer_recorder.hpp"

/// Where schedules are explored, an outer_watcher stands in front of each handler outside the
/// scheduler `S`.  All processes share the handler, so it is a location, and each operation is an
/// access to it.  The exception is a handler that reports its own accesses (outer_handlers.hpp) and
/// performs to no handler further out.
namespace weft::detail {

/// Adds the prompts of the handlers further out than `p` to `to`, except those that are there.
/// Throws bad_alloc.
void add_new_outers(prompt const& p, std::vector<prompt*>& to);

template <class S, class F>
class outer_watcher final : public expirable_evidence {
 public:
  /// `far`: the handler may perform to handlers further out.  `tells`: it reports its own accesses.
  outer_watcher(S& home, evidence<F>& outer, bool far, bool tells)
      : nearest_(home, outer), next_(home, outer.clauses->beyond(outer)) {
    nearest_.next = next_.target ? &next_ : nullptr;
    if (far || !tells) nearest_.uses.push_back(&outer.clauses->home(outer));
    if (next_.target) next_.uses.push_back(&next_.target->clauses->home(*next_.target));
    for (stand_in_evidence* const p : {&nearest_, &next_})
      for (std::size_t i = 0; far && i != p->uses.size(); ++i) add_new_outers(*p->uses[i], p->uses);
    if (!nearest_.uses.empty()) weft::detail::note_created(nearest_.uses.front());
  }
  [[nodiscard]] evidence<F>* stand_in() noexcept { return &nearest_; }
  void expire() noexcept override {
    nearest_.clauses = next_.clauses = &expired_table<via, F>::value;
  }

 private:
  struct stand_in_evidence : evidence<F> {
    stand_in_evidence(S& h, evidence<F>& t) noexcept : stand_in_evidence(h, &t) {}
    stand_in_evidence(S& h, evidence<F>* t) noexcept
        : evidence<F>{&stand_in_table<clause, via, F>::value}, home(h), target(t) {}
    S& home;
    evidence<F>* target;
    stand_in_evidence* next = nullptr;
    std::vector<prompt*> uses;
    void note_use() noexcept {
      for (prompt const* const p : uses) note_access(p, true);
    }
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

    static bool attempt(evidence<F>& e, O& o, result_slot<R>& waiting) {
      stand_in_evidence& at = of(e);
      if (has_small_steps(at.home)) return false;
      at.note_use();
      return answered_at_once<F, O>(*at.target, o, waiting);
    }
    static R when_asked(evidence<F>& e, passed<O> o, std::source_location where) {
      of(e).note_use();
      return ask_outward<F, O>(*of(e).target, static_cast<passed<O>>(o), where);
    }
    static std::coroutine_handle<> control(evidence<F>& e, O& o, std::coroutine_handle<> leaf,
                                           result_slot<R>& waiting) {
      stand_in_evidence& at = of(e);
      S& s = at.home;
      if (!has_small_steps(s))
        return at.target->template clause<O>().control(*at.target, o, leaf, waiting);
      if (!suspend_before(s, o, leaf, waiting)) {
        // Ordinary code stands in between: the process goes on at once.
        at.note_use();
        if (answered_at_once<F, O>(*at.target, o, waiting)) return leaf;
        s.throw_across(name_of<O>, waiting.where);
      }
      put_pending(s, {perform_pending, &e, &o, &waiting, leaf});
      return s.next();
    }
    static std::coroutine_handle<> perform_pending(void* scheduler, process& p,
                                                   pending_operation const& self) {
      S& s = *static_cast<S*>(scheduler);
      stand_in_evidence& at = of(*static_cast<evidence<F>*>(self.handler));
      O& o = *static_cast<O*>(self.operation);
      auto& waiting = *static_cast<result_slot<R>*>(self.waiting);
      try {
        at.note_use();
        if (!answered_at_once<F, O>(*at.target, o, waiting)) {
          p.resume_unanswered(s);
          return at.target->template clause<O>().control(*at.target, o, self.leaf, waiting);
        }
      } catch (...) {
        waiting.fail(std::current_exception());
        if (!p.is_waiting()) return self.leaf;
      }
      if (p.is_forkable()) record_answer<O>(s.log_of_running(), site_of(o, waiting.where), waiting);
      return p.resume_slow(0, s);
    }
  };

  stand_in_evidence nearest_;
  stand_in_evidence next_;
};

}  // namespace weft::detail
