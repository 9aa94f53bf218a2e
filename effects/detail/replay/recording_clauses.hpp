// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <exception>
#include <source_location>

#include "weft/effects/detail/control.hpp"
#include "weft/effects/detail/evidence.hpp"
#include "weft/effects/detail/forwarding_clause.hpp"
#include "weft/effects/detail/replay/recording.hpp"

/// The tables of clauses of a handler that records: its own clauses, and those that forward to
/// handlers further out.
namespace weft::detail {

// ---- stand-ins, in the evidence of a body, for handlers further out

template <class F>
struct forwarding {
  evidence<F> stand_in;
};
/// Stands in for the handler of F beyond the nearest one, for outer_of<F>.
template <class F>
struct forwarding_beyond {
  evidence<F> stand_in;
};

/// The recorder (forwarding_clause.hpp) of a stand-in.
template <class Node, class F, class Place>
struct recorder_of_prompt {
  Node& n;

  explicit recorder_of_prompt(evidence<F>& e) noexcept
      : n(static_cast<Node&>(reinterpret_cast<Place&>(e))) {}  // `e` is the only member of a Place
  static evidence<F>* target_of(Node& n) noexcept {
    auto* const outer = n.template outer_handler<F>();
    if constexpr (std::is_same_v<Place, forwarding<F>> || Node::template handles<F>)
      return outer;
    else
      return outer->clauses->beyond(*outer);
  }

  [[nodiscard]] replay_log& log() const noexcept { return n.log(); }
  [[nodiscard]] evidence<F>& target() const noexcept { return *target_of(n); }
  void await_answer(site const& at, result_slot_base& waiting) const noexcept {
    n.await_answer(at, waiting);
  }
  void answer_is_here() const noexcept { n.answer_is_here(); }
  std::coroutine_handle<> end_diverged(std::coroutine_handle<> leaf, site const& at) const {
    return n.end_diverged(leaf, at);
  }
};

template <class Node, class F, class Place, class Operations = typename F::operations>
struct forwarding_table;
template <class Node, class F, class Place, class... Os>
struct forwarding_table<Node, F, Place, op_list<Os...>> {
  using recorder = recorder_of_prompt<Node, F, Place>;

  template <class O>
  static bool attempt(evidence<F>& e, O& o, result_slot<typename O::result>& waiting) {
    return forward_attempt<F>(recorder(e), o, waiting);
  }
  template <class O>
  static typename O::result ask(evidence<F>& e, passed<O> o, std::source_location where) {
    return forward_asked<F, O>(recorder(e), static_cast<passed<O>>(o), where);
  }
  template <class O>
  static std::coroutine_handle<> control(evidence<F>& e, O& o, std::coroutine_handle<> leaf,
                                         result_slot<typename O::result>& waiting) {
    return forward_suspending<F>(recorder(e), o, leaf, waiting);
  }
  static prompt& prompt_of(evidence<F>& e) noexcept { return recorder(e).n; }
  static evidence<F>* beyond(evidence<F>& e) noexcept {
    if constexpr (std::is_same_v<Place, forwarding<F>>)
      return recorder(e).n.template beyond_here<F>();
    else
      return nullptr;  // outer_of skips only one handler
  }
  static constexpr clause_table<F, op_list<Os...>> value{
      clause_entry<F, Os>{attempt<Os>, ask<Os>, control<Os>}..., prompt_of, beyond};
};

// ---- the handler's own clauses

template <class Node, class E, class O>
bool attempt(evidence<E>& e, O& o, result_slot<typename O::result>& waiting) {
  Node& n = static_cast<Node&>(e);
  site const at = site_of(o, waiting.where);
  if (n.log().replaying()) return n.log().replay(at, waiting);
  if constexpr (Node::template answers_at_once<O>) {
    try {
      waiting.set_from(answer_at_once<Node, E, O>, e, static_cast<passed<O>>(o), waiting.where);
    } catch (...) {
      waiting.fail(std::current_exception());
    }
    record_answer<O>(n.log(), at, waiting);
    return true;
  } else {
    return false;
  }
}

template <class Node, class E, class O>
typename O::result ask(evidence<E>& e, passed<O> o, std::source_location where) {
  return recorded_when_asked<O>(
      static_cast<Node&>(e).log(), static_cast<passed<O>>(o), where,
      [&](passed<O> p) { return answer_at_once<Node, E, O>(e, static_cast<passed<O>>(p), where); });
}

template <class Node, class E, class O>
std::coroutine_handle<> suspend_and_record(evidence<E>& e, O& o, std::coroutine_handle<> leaf,
                                           result_slot<typename O::result>& waiting) {
  Node& n = static_cast<Node&>(e);
  site const at = site_of(o, waiting.where);
  if (n.log().diverged()) return n.end_diverged(leaf, at);
  if constexpr (Node::template answers_at_once<O>) {
    std::terminate();  // not reached: attempt() has answered, or the log has diverged
  } else {
    if constexpr (Node::traits::template kind<O> == clause_kind::multi_shot)
      if (n.log().is_full()) n.log().throw_unforkable(at);
    return suspend_recorded(
        n, at, waiting, [&] { return suspend_and_run_clause<Node, E, O>(e, o, leaf, waiting); });
  }
}

template <class Node, class E, class O>
constexpr clause_entry<E, O> recording_entry() {
  if constexpr (Node::template answers_at_once<O>)
    return {attempt<Node, E, O>, ask<Node, E, O>, suspend_and_record<Node, E, O>};
  else
    return {attempt<Node, E, O>, nullptr, suspend_and_record<Node, E, O>};
}

template <class Node, class E>
evidence<E>* beyond_recording(evidence<E>& e) noexcept {
  return static_cast<Node&>(e).template beyond_here<E>();
}

template <class Node, class E, class Operations = typename E::operations>
struct recording_table;
template <class Node, class E, class... Os>
struct recording_table<Node, E, op_list<Os...>> {
  static constexpr clause_table<E, op_list<Os...>> value{
      recording_entry<Node, E, Os>()..., home_of<Node, E>, beyond_recording<Node, E>};
};

}  // namespace weft::detail
