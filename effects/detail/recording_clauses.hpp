// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <exception>
#include <source_location>

#include "effects/detail/control.hpp"
#include "effects/detail/evidence.hpp"
#include "effects/detail/recording.hpp"

/// The tables of a handler that records: clauses that write down what they answer, and clauses
/// that answer from the log.
namespace weft::detail {

/// Stands in the body's evidence for a handler further out.
template <class F>
struct crossing : evidence<F> {};

// ---- entries that record

template <class Node, class E, class O>
typename O::result answer_and_record(evidence<E>& e, passed<O> o, std::source_location where) {
  using R = typename O::result;
  Node& n = Node::of(e);
  answer<R> a(where);
  try {
    a.set_from([&] { return Node::template ask<E, O>(e, static_cast<passed<O>>(o), where); });
  } catch (...) {
    a.fail(std::current_exception());
  }
  n.log().record({&name_of<O>, where}, a);
  return a.take();
}

template <class Node, class E, class O>
std::coroutine_handle<> cross(evidence<E>& e, O& o, std::coroutine_handle<> leaf,
                              answer<typename O::result>& waiting) {
  Node& n = Node::of(e);
  auto& outer = *n.template outer_handler<E>();
  site const at{&name_of<O>, waiting.where};
  if (auto const at_once = outer.template clause<O>().at_once) {
    try {
      waiting.set_from([&] { return at_once(outer, static_cast<passed<O>>(o), at.where); });
    } catch (...) {
      waiting.fail(std::current_exception());
    }
    n.log().record(at, waiting);
    return leaf;
  }
  n.await_answer(at, waiting);
  return outer.template clause<O>().control(outer, o, leaf, waiting);
}

// ---- entries that replay

template <class Node, class E, class O>
typename O::result replay_asked(evidence<E>& e, passed<O>, std::source_location where) {
  Node& n = Node::of(e);
  answer<typename O::result> a(where);
  site const at{&name_of<O>, where};
  if (!n.log().replay(at, a)) throw n.log().divergence(at);
  n.replayed();
  return a.take();
}

template <class Node, class E, class O>
std::coroutine_handle<> replay(evidence<E>& e, O&, std::coroutine_handle<> leaf,
                               answer<typename O::result>& waiting) {
  Node& n = Node::of(e);
  site const at{&name_of<O>, waiting.where};
  if (!n.log().replay(at, waiting)) return n.end_diverged(leaf, at);
  n.replayed();
  return leaf;
}

template <class Node, class E, class O>
constexpr clause_entry<E, O> recording_entry() {
  if constexpr (!Node::template handles<E>) {
    return {nullptr, answer_and_record<Node, E, O>, cross<Node, E, O>};
  } else {
    constexpr clause_kind kind = Node::setting::template kind<O>;
    if constexpr (kind == clause_kind::value || kind == clause_kind::asking)
      return {answer_and_record<Node, E, O>, answer_and_record<Node, E, O>, nullptr};
    else
      return {nullptr, nullptr, answer_with_rest<Node, E, O>};
  }
}
template <class Node, class E, class O>
constexpr clause_entry<E, O> replaying_entry() {
  return {nullptr, replay_asked<Node, E, O>, replay<Node, E, O>};
}

template <class Node, class E, class Operations = typename E::operations>
struct recording_tables;
template <class Node, class E, class... Os>
struct recording_tables<Node, E, op_list<Os...>> {
  static prompt& home(evidence<E>& e) noexcept { return Node::of(e).home_for(e); }
  static evidence<E>* beyond(evidence<E>& e) noexcept {
    return Node::of(e).template outer_handler<E>();
  }
  using table = clause_table<E, op_list<Os...>>;
  static constexpr table live{recording_entry<Node, E, Os>()..., home, beyond};
  static constexpr table replaying{replaying_entry<Node, E, Os>()..., home, beyond};
};

}  // namespace weft::detail
