// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <exception>
#include <memory>
#include <source_location>
#include <string_view>
#include <type_traits>
#include <utility>

#include "weft/effects/detail/handler_traits.hpp"
#include "weft/effects/detail/internal.hpp"
#include "weft/effects/detail/kept_clause.hpp"
#include "weft/effects/multi_resumption.hpp"

/// The functions in a handler's table (evidence.hpp), which run the clause of an operation.  `Node`
/// is the type of the prompt, handler_prompt or recording_handler_prompt: it derives from
/// evidence<E>, so a function casts its evidence<E> to `Node`.  `S` is the handler_traits.
namespace weft::detail {

[[noreturn, gnu::cold]] void throw_returned(std::string_view operation, std::source_location where);

/// Gives call_clause_at() the source location of an operation, if the caller knows it already.
struct known_place {
  std::source_location at;
  [[nodiscard]] std::source_location operator()() const noexcept { return at; }
};
/// Calls a value clause; if the clause performs outward, with the evidence of the row `Around`.
template <class Around, bool IsAsking, class H, class O>
decltype(auto) call_value_clause(H& h, [[maybe_unused]] void* around, std::source_location where,
                                 O&& o) {
  if constexpr (IsAsking)
    return call_clause_at(h, known_place{where}, std::forward<O>(o), asking<Around>{around});
  else
    return call_clause_at(h, known_place{where}, std::forward<O>(o));
}

/// Answers an operation by its value clause, which may take an outer<...>.
template <class Node, class E, class O>
typename O::result answer_at_once(evidence<E>& e, passed<O> o,
                                  [[maybe_unused]] std::source_location where) {
  using R = typename O::result;
  using S = typename Node::traits;
  Node& n = static_cast<Node&>(e);
  using around = typename S::around;
  constexpr bool is_asking = S::template kind<O> == clause_kind::outward;
  if constexpr (std::is_void_v<R> || std::is_same_v<R, never>)
    (void)call_value_clause<around, is_asking>(n.handler(), n.around(), where, std::move(o));
  else
    return call_value_clause<around, is_asking>(n.handler(), n.around(), where, std::move(o));
  if constexpr (std::is_same_v<R, never>) throw_returned(name_of<O>, where);
}

/// Whether a clause may use something that the prompt owns: an owned handler with data members.
template <class S>
constexpr bool owns_state = !S::is_reference && !std::is_empty_v<typename S::handler>;

/// Makes the frame of a coroutine clause, to be run next.  When the clause is done, `waiter`
/// continues.
template <bool MayDropPinned, class Node, class O, class K>
std::coroutine_handle<> start_clause(Node& n, O&& o, K&& k, continuation waiter,
                                     result_slot_base& to) {
  using S = typename Node::traits;
  using clause = clause_result<typename S::handler, O, K>;
  using callee = typename clause::effects;
  using clause_end = kept_clause<callee, typename S::around>;
  // Whether the clause needs the prompt: for the handler that the prompt owns, or for the evidence
  // by which the clause performs, and which the prompt keeps.
  constexpr bool uses_prompt =
      !std::is_same_v<callee, row<>> || !(S::borrowed || std::is_empty_v<typename S::handler>);
  std::unique_ptr<clause_end> keeper;
  if constexpr (S::stays)
    keeper.reset(new resident_clause<callee, typename S::around>(n, waiter, n.around(), n.home()));
  else if constexpr (uses_prompt || MayDropPinned)
    keeper.reset(new clause_end(n, waiter, n.around()));

  auto const frame =
      call_clause_at(
          n.handler(), [&n] { return n.where(); }, std::forward<O>(o), std::forward<K>(k))
          .release(internal());
  frame.promise().parent = keeper ? continuation(*keeper) : waiter;
  frame.promise().evidence = keeper ? keeper->evidence() : nullptr;
  frame.promise().to = &to;
  (void)keeper.release();
  return frame;
}

/// Calls a control or coroutine clause with the captured chain.  `MayDropPinned`: tasks may be open
/// in the chain (with_scope); if the clause drops the chain, `waiter` waits for them (CLAUSE-1 of
/// end_of_clause.hpp).  Returns the frame to run next; null if the answer is in `to`, and `waiter`
/// runs next.  Once the clause has `k`, the performing frame is not touched: it may run on another
/// thread by now, or be destroyed.
template <bool MayDropPinned, class Node, class O>
[[gnu::always_inline]] inline std::coroutine_handle<> run_clause(
    Node& n, O o, continuation waiter, result_slot<typename Node::traits::answer>& to) noexcept {
  using R = typename O::result;
  using S = typename Node::traits;
  using A = typename S::answer;
  using K = resumption_for<R, A, S::template kind<O>>;
  using Result = clause_result<typename S::handler, O, K>;

  kept_prompt<owns_state<S>> const alive(n);
  resumption<R, A> once(internal(), n);  // takes over the count that the body had (PROMPT-1)
  try {
    auto const k = [&]() -> K {
      if constexpr (S::template kind<O> == clause_kind::multi_shot)
        return K(internal(), n.captured(std::move(once).take(internal())));
      else
        return std::move(once);
    };
    [[maybe_unused]] auto const where = [&n] { return n.where(); };
    if constexpr (is_eff<Result>) {
      return start_clause<MayDropPinned>(n, std::move(o), k(), waiter, to);
    } else if constexpr (std::is_same_v<Result, outcome<A>>) {
      outcome<A> result = call_clause_at(n.handler(), where, std::move(o), k());
      if (result.rest(internal())) {
        result.rest(internal()).require_open();  // again: the clause may have ended the region
        if constexpr (MayDropPinned)  // the clause may have dropped its `k`, and resume another one
          waiter = end_of_clause::after(n, waiter);
        return std::move(result.rest(internal())).go(waiter, to);
      }
      if constexpr (std::is_void_v<A>)
        to.set();
      else
        to.set(*std::move(result.value(internal())));
    } else {
      to.set_from([&] { return call_clause_at(n.handler(), where, std::move(o), k()); });
    }
  } catch (...) {
    to.fail(std::current_exception());
  }
  return nullptr;
}

/// Calls run_clause() for a clause that may drop a pinned continuation (CLAUSE-1).  During the call
/// it keeps the prompt, and counts the clause as unfinished.  Returns the frame to run next.
template <class Node, class O>
[[gnu::noinline]] std::coroutine_handle<> run_clause_to_its_end(
    Node& n, O o, continuation waiter, result_slot<typename Node::traits::answer>& to) noexcept {
  kept_prompt<true> const alive(n);
  n.clause_begins();
  auto const next = run_clause<true>(n, std::move(o), waiter, to);
  n.clause_ends();
  return next ? next : end_of_clause::after(n, waiter).resolve();
}

/// Captures the chain from `leaf` up to `n`, and runs the clause.  Returns the frame to run next.
template <class Node, class O>
std::coroutine_handle<> capture_and_answer(Node& n, O& in_frame, std::coroutine_handle<> leaf,
                                           result_slot<typename O::result>& waiting) {
  using S = typename Node::traits;
  if constexpr (S::template kind<O> == clause_kind::multi_shot &&
                requires { n.claim(leaf, site_of(in_frame, waiting.where)); })
    n.claim(leaf, site_of(in_frame, waiting.where));
  O o = std::move(in_frame);
  n.capture(leaf, waiting, info_of<O>);
  // The clause takes the place of the body: its answer goes where the body's would have gone.
  continuation const waiter = n.outside();
  auto& to = static_cast<result_slot<typename S::answer>&>(n.to());
  // Relaxed, as in pinned_by(): the flag is set before a chain with a pin is handed to this thread.
  if (some_frame_pins.load(std::memory_order_relaxed)) [[unlikely]]
    return run_clause_to_its_end(n, std::move(o), waiter, to);
  auto const next = run_clause<false>(n, std::move(o), waiter, to);
  return next ? next : waiter.resolve();
}

/// Calls capture_and_answer() for an operation with other prompts between it and its handler.
template <class Node, class O>
[[gnu::noinline]] std::coroutine_handle<> capture_across(Node& n, O& in_frame,
                                                         std::coroutine_handle<> leaf,
                                                         result_slot<typename O::result>& waiting) {
  n.hold_inner(name_of<O>, waiting.where);
  return capture_and_answer(n, in_frame, leaf, waiting);
}

template <class Node, class E, class O>
std::coroutine_handle<> suspend_and_run_clause(evidence<E>& e, O& in_frame,
                                               std::coroutine_handle<> leaf,
                                               result_slot<typename O::result>& waiting) {
  Node& n = static_cast<Node&>(e);
  if (!n.is_innermost()) [[unlikely]]
    return capture_across(n, in_frame, leaf, waiting);
  return capture_and_answer(n, in_frame, leaf, waiting);
}

/// Stands for a clause whose handler has ended: throws resumption_expired.
template <class Node, class E, class O>
typename O::result answer_expired(evidence<E>& e, passed<O>, std::source_location where) {
  static_cast<Node&>(e).throw_gone(name_of<O>, where);
}

template <class Node, class E, class O>
constexpr clause_entry<E, O> live_entry() {
  constexpr clause_kind kind = Node::traits::template kind<O>;
  if constexpr (kind == clause_kind::value || kind == clause_kind::outward)
    return {nullptr, answer_at_once<Node, E, O>, nullptr};
  else
    return {nullptr, nullptr, suspend_and_run_clause<Node, E, O>};
}
template <class Node, class E, class O>
constexpr clause_entry<E, O> expired_entry() {
  return {nullptr, answer_expired<Node, E, O>, nullptr};
}

template <class Node, class E>
prompt& home_of(evidence<E>& e) noexcept {
  return static_cast<Node&>(e);
}
template <class Node, class E>
evidence<E>* beyond_of(evidence<E>& e) noexcept {
  return static_cast<Node&>(e).template outer_handler<E>();
}

template <class Node, class E, class Operations = typename E::operations>
struct tables;
template <class Node, class E, class... Os>
struct tables<Node, E, op_list<Os...>> {
  using table = clause_table<E, op_list<Os...>>;
  static constexpr table live{live_entry<Node, E, Os>()..., home_of<Node, E>, beyond_of<Node, E>};
  static constexpr table expired{expired_entry<Node, E, Os>()..., home_of<Node, E>,
                                 beyond_of<Node, E>};
};

}  // namespace weft::detail
