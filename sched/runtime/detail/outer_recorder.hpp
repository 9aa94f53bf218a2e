// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <source_location>
#include <utility>

#include "weft/effects/handle.hpp"
#include "weft/sched/runtime/detail/scheduler_core.hpp"

/// The evidence of forkable processes for a handler outside the scheduler: it records answers.
namespace weft::detail {

/// The clauses of a scheduler that is over: they throw resumption_expired.
template <class Via, class E, class Operations = typename E::operations>
struct expired_table;
template <class Via, class E, class... Os>
struct expired_table<Via, E, op_list<Os...>> {
  template <class O>
  static typename O::result expired(evidence<E>& e, passed<O>, std::source_location where) {
    Via::home(e).throw_gone(name_of<O>, where);
  }
  static constexpr clause_table<E, op_list<Os...>> value{
      clause_entry<E, Os>{expired<Os>, nullptr, expired<Os>, nullptr}..., Via::home, Via::beyond};
};

/// The clauses of evidence that stands in front of a handler: for each operation `O` they are the
/// functions attempt(), when_asked() and control() of Clause<O>.
template <template <class> class Clause, class Via, class E,
          class Operations = typename E::operations>
struct stand_in_table;
template <template <class> class Clause, class Via, class E, class... Os>
struct stand_in_table<Clause, Via, E, op_list<Os...>> {
  static constexpr clause_table<E, op_list<Os...>> value{
      clause_entry<E, Os>{nullptr, Clause<Os>::attempt, Clause<Os>::when_asked,
                          Clause<Os>::control}...,
      Via::home, Via::beyond};
};

/// Evidence that may outlive its scheduler, in frames that a handler keeps.
class expirable_evidence : public pooled {
 public:
  expirable_evidence() = default;
  expirable_evidence(expirable_evidence const&) = delete;
  expirable_evidence& operator=(expirable_evidence const&) = delete;
  virtual ~expirable_evidence() = default;
  /// From now on operations throw resumption_expired.
  virtual void expire() noexcept = 0;

  expirable_evidence* next = nullptr;  // in the scheduler's list
};

/// Stands in for the nearest handler of `F`, and for the next one further out, which outer_of<F>
/// reaches.
template <class F>
class outer_recorder final : public expirable_evidence {
 public:
  outer_recorder(scheduler_core& home, evidence<F>& outer) noexcept
      : nearest_{{&forwarding_table<via, F>::value}, home, &outer},
        next_{{&forwarding_table<via, F>::value}, home, outer.clauses->beyond(outer)} {
    nearest_.next = next_.target ? &next_ : nullptr;
  }
  [[nodiscard]] evidence<F>* stand_in() noexcept { return &nearest_; }
  void expire() noexcept override {
    nearest_.clauses = next_.clauses = &expired_table<via, F>::value;
  }

 private:
  struct stand_in_evidence : evidence<F> {
    scheduler_core& home;
    evidence<F>* target;
    stand_in_evidence* next = nullptr;
    stand_in_evidence(evidence<F> e, scheduler_core& h, evidence<F>* t) noexcept
        : evidence<F>(e), home(h), target(t) {}
  };
  struct via {
    static stand_in_evidence& of(evidence<F>& e) noexcept {
      return static_cast<stand_in_evidence&>(e);
    }
    static prompt& home(evidence<F>& e) noexcept { return of(e).home; }
    static replay_log& log(evidence<F>& e) noexcept { return of(e).home.log_of_running(); }
    static evidence<F>& target(evidence<F>& e) noexcept { return *of(e).target; }
    static evidence<F>* beyond(evidence<F>& e) noexcept { return of(e).next; }
    // A handler outside a scheduler answers at once: there is no answer to wait for.
    static void await_answer(evidence<F>&, site const&, result_slot_base&) noexcept {}
    static void answer_is_here(evidence<F>&) noexcept {}
    static std::coroutine_handle<> end_diverged(evidence<F>& e, std::coroutine_handle<> leaf,
                                                site const& at) {
      return of(e).home.end_diverged(leaf, at);
    }
  };

  stand_in_evidence nearest_;
  stand_in_evidence next_;
};

}  // namespace weft::detail
