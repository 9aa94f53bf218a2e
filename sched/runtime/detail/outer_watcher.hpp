// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <coroutine>
#include <cstddef>
#include <exception>
#include <source_location>
#include <vector>

#include "effects/detail/forwarding_clause.hpp"
#include "sched/base/detail/location_listener.hpp"
#include "sched/base/detail/pending_operation.hpp"
#include "sched/runtime/detail/outer_recorder.hpp"

/// What stands, where schedules are explored, in front of a handler outside the scheduler `S`: what
/// that does is shared by all processes, and so it is a location.  Unless it says that it tells
/// what it touches (outer_handlers.hpp), and asks nobody further out.
namespace weft::detail {

template <class S, class F>
class watcher final : public recorder_base {
 public:
  /// `far`: it may use what stands further out.  `tells`: it tells what it touches.
  watcher(S& home, evidence<F>& outer, bool far, bool tells)
      : nearest_(home, outer), next_(home, outer.clauses->beyond(outer)) {
    nearest_.next = next_.target ? &next_ : nullptr;
    if (far || !tells) nearest_.uses.push_back(&outer.clauses->home(outer));
    if (next_.target) next_.uses.push_back(&next_.target->clauses->home(*next_.target));
    for (place* const p : {&nearest_, &next_})
      for (std::size_t i = 0; far && i != p->uses.size(); ++i) add_outers_of(*p->uses[i], p->uses);
    if (!nearest_.uses.empty()) weft::detail::note_created(nearest_.uses.front());
  }
  [[nodiscard]] evidence<F>* stand_in() noexcept { return &nearest_; }
  void expire() noexcept override {
    nearest_.clauses = next_.clauses = &expired_table<via, F>::value;
  }

 private:
  struct place : evidence<F> {
    place(S& h, evidence<F>& t) noexcept : place(h, &t) {}
    place(S& h, evidence<F>* t) noexcept : evidence<F>{&table<>::value}, home(h), target(t) {}
    S& home;
    evidence<F>* target;
    place* next = nullptr;
    std::vector<prompt*> uses;
    void is_used() noexcept {
      for (prompt const* const p : uses) note_access(p, true);
    }
  };
  static void add_outers_of(prompt const& p, std::vector<prompt*>& to) {
    std::vector<prompt*> outers;
    p.add_outers(outers);
    for (prompt* const outer : outers)
      if (std::ranges::find(to, outer) == to.end()) to.push_back(outer);
  }
  struct via {
    static prompt& home(evidence<F>& e) noexcept { return of(e).home; }
    static evidence<F>* beyond(evidence<F>& e) noexcept { return of(e).next; }
  };
  static place& of(evidence<F>& e) noexcept { return static_cast<place&>(e); }

  template <class O>
  struct clause {
    using R = typename O::result;

    static bool attempt(evidence<F>& e, O& o, result_slot<R>& waiting) {
      place& at = of(e);
      if (at.home.lets_others_first()) return false;
      at.is_used();
      return answered_at_once<F, O>(*at.target, o, waiting);
    }
    static R when_asked(evidence<F>& e, passed<O> o, std::source_location where) {
      of(e).is_used();
      return ask_outward<F, O>(*of(e).target, static_cast<passed<O>>(o), where);
    }
    static std::coroutine_handle<> control(evidence<F>& e, O& o, std::coroutine_handle<> leaf,
                                           result_slot<R>& waiting) {
      place& at = of(e);
      S& s = at.home;
      if (!s.lets_others_first())
        return at.target->template clause<O>().control(*at.target, o, leaf, waiting);
      if (!s.template stop_before<O>(o, leaf, waiting)) {
        // Ordinary code stands in between: it goes on.
        at.is_used();
        if (answered_at_once<F, O>(*at.target, o, waiting)) return leaf;
        s.throw_across(name_of<O>, waiting.where);
      }
      s.put_pending({perform_pending, &e, &o, &waiting, leaf});
      return s.next();
    }
    static std::coroutine_handle<> perform_pending(void* scheduler, process& p,
                                                   pending_operation const& self) {
      S& s = *static_cast<S*>(scheduler);
      place& at = of(*static_cast<evidence<F>*>(self.handler));
      O& o = *static_cast<O*>(self.operation);
      auto& waiting = *static_cast<result_slot<R>*>(self.waiting);
      try {
        at.is_used();
        if (!answered_at_once<F, O>(*at.target, o, waiting)) {
          p.go_on_unanswered(s);
          return at.target->template clause<O>().control(*at.target, o, self.leaf, waiting);
        }
      } catch (...) {
        waiting.fail(std::current_exception());
        if (!p.is_waiting()) return self.leaf;
      }
      if (p.is_forkable()) record_answer<O>(s.log_of_running(), site_of(o, waiting.where), waiting);
      return p.go_on_somehow(0, s);
    }
  };

  template <class Operations = typename F::operations>
  struct table;
  template <class... Os>
  struct table<op_list<Os...>> {
    static constexpr clause_table<F, op_list<Os...>> value{
        clause_entry<F, Os>{nullptr, clause<Os>::attempt, clause<Os>::when_asked,
                            clause<Os>::control}...,
        via::home, via::beyond};
  };

  place nearest_;
  place next_;
};

}  // namespace weft::detail
