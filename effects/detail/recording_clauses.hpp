// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <exception>
#include <source_location>

#include "weft/effects/detail/control.hpp"
#include "weft/effects/detail/evidence.hpp"
#include "weft/effects/detail/forwarding_clause.hpp"
#include "weft/effects/detail/recording.hpp"

/// The tables of clauses of a handler that records: its own clauses, and those that forward to
/// handlers further out.
namespace weft::detail {

// ---- stand-ins, in the evidence of a body, for handlers further out

template <class F>
struct forwarding {
  evidence<F> stand_in;
};
/// For outer_of<F>: stands in for the handler beyond the nearest one.
template <class F>
struct forwarding_beyond {
  evidence<F> stand_in;
};

template <class Node, class F, class Place>
struct via_prompt {
  static Node& of(evidence<F>& e) noexcept {
    return static_cast<Node&>(reinterpret_cast<Place&>(e));  // `e` is the only member of a Place
  }
  static evidence<F>* target_of(Node& n) noexcept {
    auto* const outer = n.template outer_handler<F>();
    if constexpr (std::is_same_v<Place, forwarding<F>> || Node::template handles<F>)
      return outer;
    else
      return outer->clauses->beyond(*outer);
  }

  static prompt& home(evidence<F>& e) noexcept { return of(e); }
  static replay_log& log(evidence<F>& e) noexcept { return of(e).log(); }
  static evidence<F>& target(evidence<F>& e) noexcept { return *target_of(of(e)); }
  static evidence<F>* beyond(evidence<F>& e) noexcept {
    if constexpr (std::is_same_v<Place, forwarding<F>>)
      return of(e).template beyond_here<F>();
    else
      return nullptr;  // outer_of skips only one handler
  }
  static void await_answer(evidence<F>& e, site const& at, result_slot_base& waiting) noexcept {
    of(e).await_answer(at, waiting);
  }
  static void answer_is_here(evidence<F>& e) noexcept { of(e).answer_is_here(); }
  static std::coroutine_handle<> end_diverged(evidence<F>& e, std::coroutine_handle<> leaf,
                                              site const& at) {
    return of(e).end_diverged(leaf, at);
  }
};

// ---- its own clauses

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
struct answering_at_once {
  evidence<E>& e;
  std::source_location where;
  typename O::result operator()(passed<O> o) const {
    return answer_at_once<Node, E, O>(e, static_cast<passed<O>>(o), where);
  }
};
template <class Node, class E, class O>
typename O::result attempt_when_asked(evidence<E>& e, passed<O> o, std::source_location where) {
  return recorded_when_asked<O>(static_cast<Node&>(e).log(), static_cast<passed<O>>(o), where,
                                answering_at_once<Node, E, O>{e, where});
}

template <class Node, class E, class O>
std::coroutine_handle<> suspend_and_record(evidence<E>& e, O& o, std::coroutine_handle<> leaf,
                                           result_slot<typename O::result>& waiting) {
  Node& n = static_cast<Node&>(e);
  site const at = site_of(o, waiting.where);
  if (n.log().diverged()) return n.end_diverged(leaf, at);
  if constexpr (Node::template answers_at_once<O>) {
    std::terminate();  // not reached: either answered, or diverged
  } else {
    if constexpr (Node::traits::template kind<O> == clause_kind::multi_shot)
      if (n.log().is_full()) n.log().throw_unforkable(at);
    n.await_answer(at, waiting);
    return answer_with_rest<Node, E, O>(e, o, leaf, waiting);
  }
}

template <class Node, class E, class O>
constexpr clause_entry<E, O> recording_entry() {
  if constexpr (Node::template answers_at_once<O>)
    return {nullptr, attempt<Node, E, O>, attempt_when_asked<Node, E, O>,
            suspend_and_record<Node, E, O>};
  else
    return {nullptr, attempt<Node, E, O>, nullptr, suspend_and_record<Node, E, O>};
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
