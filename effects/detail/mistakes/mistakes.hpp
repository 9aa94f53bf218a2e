// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "weft/effects/detail/mistakes/refused.hpp"

/// The mistakes that a program can make in a row, in a handler or in a clause.
///
/// A mistake is a type, so it is found without a message.  The function that the program has called
/// then reports it, so that no other function stands between the message and the program's line.
/// This header includes little, and headers such as effects.hpp include it first: compilers also
/// list the headers on the way to a message.
namespace weft::detail {

struct no_mistake {
  static consteval bool report() { return true; }
};
/// A mistake in the row of a coroutine, which get_return_object() of that coroutine reports.
struct reported_mistake {
  static consteval bool report() { return false; }
};
template <class Mistake>
constexpr bool is_well = std::is_same_v<Mistake, no_mistake>;

/// The first of `Mistakes` that is not no_mistake; else no_mistake.
template <class... Mistakes>
struct first_mistake {
  using type = no_mistake;
};
template <class M, class... Ms>
struct first_mistake<M, Ms...> {
  using type = M;
};
template <class... Ms>
struct first_mistake<no_mistake, Ms...> : first_mistake<Ms...> {};

// ---- rows

template <class Operation>
struct operation_in_row {
  static consteval bool report() {
    static_assert(is_allowed<Operation>,
                  "weft: this is an operation: name in its place the effect that lists it");
    return false;
  }
};
template <class NoEffect>
struct no_effect_in_row {
  static consteval bool report() {
    static_assert(is_allowed<NoEffect>,
                  "weft: this is not an effect: an effect lists its operations, each once, in "
                  "`using operations = op_list<...>`");
    return false;
  }
};

// ---- what a coroutine performs

template <class Operation>
struct operation_outside_row {
  static consteval bool report() {
    static_assert(is_allowed<Operation>,
                  "weft: this operation is outside the row of the coroutine that performs it: "
                  "name in eff<...> the effect that lists it");
    return false;
  }
};
template <class Operation>
struct operation_of_two_effects {
  static consteval bool report() {
    static_assert(is_allowed<Operation>,
                  "weft: two effects of the row list this operation: tag one of them");
    return false;
  }
};

// ---- handlers

template <class Handler, class Result>
struct on_return_of_another_type {
  static consteval bool report() {
    static_assert(is_allowed<Handler, Result>,
                  "weft: the handler's on_return does not take what the body computes");
    return false;
  }
};
template <class Handler, class Result>
struct on_return_is_coroutine {
  static consteval bool report() {
    static_assert(is_allowed<Handler, Result>,
                  "weft: a handler's on_return is a function, no coroutine");
    return false;
  }
};
template <class Missing>
struct body_outside_row {
  static consteval bool report() {
    static_assert(is_allowed<Missing>,
                  "weft: the body may perform an effect that is neither handled here nor in the "
                  "row around handle");
    return false;
  }
};
template <class Body>
struct body_is_compared {
  static consteval bool report() {
    static_assert(is_allowed<Body>,
                  "weft: a composition that is compared is no body of another handler: pass a "
                  "function that awaits it");
    return false;
  }
};

// ---- clauses

template <class Handler, class Operation>
struct clause_by_auto {
  static consteval bool report() {
    static_assert(
        is_allowed<Handler, Operation>,
        "weft: a clause takes its resumption by `auto`: write resumption<result, answer>");
    return false;
  }
};
template <class Handler, class Operation>
struct clause_is_not_const {
  static consteval bool report() {
    static_assert(is_allowed<Handler, Operation>,
                  "weft: the handler is const, and its clause for this operation is not");
    return false;
  }
};
template <class Handler, class Operation>
struct clause_takes_reference {
  static consteval bool report() {
    static_assert(is_allowed<Handler, Operation>,
                  "weft: a clause takes its operation by value, or by const&");
    return false;
  }
};
template <class Handler, class Operation, class Resumption>
struct clause_takes_another_resumption {
  static consteval bool report() {
    static_assert(is_allowed<Handler, Operation, Resumption>,
                  "weft: the clause for this operation takes another type of resumption than "
                  "resumption<result, answer>: the operation's result, the handler's answer");
    return false;
  }
};
template <class Handler, class Operation>
struct no_clause {
  static consteval bool report() {
    static_assert(is_allowed<Handler, Operation>,
                  "weft: the handler has no public clause for this operation: on(operation), or "
                  "on(operation, resumption<result, answer>)");
    return false;
  }
};
template <class Handler, class Operation>
struct clauses_of_two_kinds {
  static consteval bool report() {
    static_assert(is_allowed<Handler, Operation>,
                  "weft: the handler has clauses of two kinds for this operation: keep one");
    return false;
  }
};
template <class Eff, class... Parameters>
struct clause_answers_otherwise {
  static consteval bool report() {
    static_assert(is_allowed<Eff, Parameters...>,
                  "weft: a coroutine clause computes what its resumption answers with: "
                  "eff<A, ...> on(operation, resumption<result, A> k)");
    return true;  // so that no second error follows
  }
};
template <class Handler, class Operation>
struct coroutine_without_resumption {
  static consteval bool report() {
    static_assert(is_allowed<Handler, Operation>,
                  "weft: a clause that is a coroutine takes the resumption too: on(operation, "
                  "resumption<result, answer> k)");
    return false;
  }
};
template <class Handler, class Operation, class Returned>
struct value_clause_of_another_type {
  static consteval bool report() {
    static_assert(is_allowed<Handler, Operation, Returned>,
                  "weft: the clause on(operation) returns a value that does not convert to the "
                  "operation's result");
    return false;
  }
};
template <class Handler, class Operation, class Returned>
struct coroutine_clause_of_another_type {
  static consteval bool report() {
    static_assert(is_allowed<Handler, Operation, Returned>,
                  "weft: a coroutine clause computes another type than the handler answers with");
    return false;
  }
};
template <class Handler, class Operation, class Missing>
struct coroutine_clause_outside_row {
  static consteval bool report() {
    static_assert(is_allowed<Handler, Operation, Missing>,
                  "weft: a coroutine clause performs an effect that is not in the row around "
                  "handle: add it there, or handle it");
    return false;
  }
};
template <class Handler, class Operation, class Returned>
struct control_clause_of_another_type {
  static consteval bool report() {
    static_assert(is_allowed<Handler, Operation, Returned>,
                  "weft: a control clause must return the handler's answer, or outcome<answer>, "
                  "which k.last(value) gives");
    return false;
  }
};
template <class Missing>
struct clause_asks_outside_row {
  static consteval bool report() {
    static_assert(is_allowed<Missing>,
                  "weft: a clause asks outward for an effect that is not in the row around "
                  "handle: add it there, or handle it");
    return false;
  }
};

// ---- handlers that are passed to schedule (sched/runtime/detail/outer/outer_handlers.hpp)

template <class Effect, bool IsOfCommands>
struct effect_without_handler {
  static consteval bool report() {
    if constexpr (IsOfCommands)
      static_assert(is_allowed<Effect>,
                    "weft: no dispatcher takes this command: add to dispatchers{...} a "
                    "function of the command and a reply<result>, its result");
    else
      static_assert(is_allowed<Effect>,
                    "weft: no handler was passed that can be called as h.on(operation) for this "
                    "effect of the program");
    return false;
  }
};
template <class Handler>
struct outer_handler_with_resumption {
  static consteval bool report() {
    static_assert(is_allowed<Handler>,
                  "weft: a handler passed to schedule stands outside all processes and answers "
                  "them at once: on(operation), without a resumption");
    return false;
  }
};
template <class Handler>
struct handler_not_thread_safe {
  static consteval bool report() {
    static_assert(
        is_allowed<Handler>,
        "weft: processes on several threads use the handlers outside at once: this handler "
        "is not marked as thread safe: static constexpr bool thread_safe = true; or pass "
        "synchronized(handler)");
    return false;
  }
};

}  // namespace weft::detail
