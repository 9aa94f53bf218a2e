// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <source_location>
#include <utility>

#include "weft/effects/handle.hpp"
#include "weft/sched/runtime/detail/scheduler_core.hpp"

/// Evidence of a scheduler in front of a handler: a hook records, traces or watches each operation.
namespace weft::detail {

/// The clauses of a scheduler that is over: they throw resumption_expired.
template <class Table, class E, class Operations = typename E::operations>
struct expired_table;
template <class Table, class E, class... Os>
struct expired_table<Table, E, op_list<Os...>> {
  template <class O>
  static typename O::result expired(evidence<E>& e, passed<O>, std::source_location where) {
    Table::prompt_of(e).throw_gone(name_of<O>, where);
  }
  static constexpr clause_table<E, op_list<Os...>> value{
      clause_entry<E, Os>{nullptr, expired<Os>, nullptr}..., Table::prompt_of, Table::beyond};
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

  expirable_evidence* next = nullptr;  // the next one in the scheduler's list
};

/// Stands in for the nearest handler of `F`, and for the next one further out, which outer_of<F>
/// reaches.  In front of each of the two handlers is a `Hook`.  The hook's members attempt(), ask()
/// and control() are the clauses of all operations; handler() is the handler behind the hook, null
/// if there is none; and home() is the prompt of the scheduler.
template <class F, class Hook>
class interposed final : public expirable_evidence {
 public:
  interposed(Hook nearest, Hook beyond) : nearest_(std::move(nearest)), beyond_(std::move(beyond)) {
    if (beyond_.hook.handler()) nearest_.beyond = &beyond_;
  }
  [[nodiscard]] evidence<F>* stand_in() noexcept { return &nearest_; }
  void expire() noexcept override {
    nearest_.clauses = beyond_.clauses = &expired_table<table<>, F>::value;
  }

 private:
  template <class Operations = typename F::operations>
  struct table;
  struct place : evidence<F> {
    explicit place(Hook h) : evidence<F>{&table<>::value}, hook(std::move(h)) {}
    Hook hook;
    place* beyond = nullptr;
  };
  static place& place_of(evidence<F>& e) noexcept { return static_cast<place&>(e); }

  template <class... Os>
  struct table<op_list<Os...>> {
    template <class O>
    static bool attempt(evidence<F>& e, O& o, result_slot<typename O::result>& waiting) {
      return place_of(e).hook.attempt(o, waiting);
    }
    template <class O>
    static typename O::result ask(evidence<F>& e, passed<O> o, std::source_location where) {
      return place_of(e).hook.template ask<O>(static_cast<passed<O>>(o), where);
    }
    template <class O>
    static std::coroutine_handle<> control(evidence<F>& e, O& o, std::coroutine_handle<> leaf,
                                           result_slot<typename O::result>& waiting) {
      return place_of(e).hook.control(o, leaf, waiting);
    }
    static prompt& prompt_of(evidence<F>& e) noexcept { return place_of(e).hook.home(); }
    static evidence<F>* beyond(evidence<F>& e) noexcept { return place_of(e).beyond; }
    static constexpr clause_table<F, op_list<Os...>> value{
        clause_entry<F, Os>{attempt<Os>, ask<Os>, control<Os>}..., prompt_of, beyond};
  };

  place nearest_;
  place beyond_;
};

template <class R, class S, class... Args>
R* keep_evidence(S& s, Args&&... args) {
  R* const r = new R(std::forward<Args>(args)...);
  s.keep_evidence(*r);
  return r;
}
/// Makes evidence with the hook `nearest` in front of the nearest handler of `F`, and `beyond` in
/// front of the next one further out.  The scheduler keeps the evidence.
template <class F, class Hook, class S>
evidence<F>* interpose(S& s, Hook nearest, Hook beyond) {
  return keep_evidence<interposed<F, Hook>>(s, std::move(nearest), std::move(beyond))->stand_in();
}
template <class F>
[[nodiscard]] evidence<F>* beyond(evidence<F>& handler) noexcept {
  return handler.clauses->beyond(handler);
}

}  // namespace weft::detail
