// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <exception>
#include <source_location>

#include "weft/effects/detail/evidence.hpp"
#include "weft/effects/detail/replay_log.hpp"
#include "weft/effects/outer.hpp"

/// Clauses between a program that can be run again and a handler further out: they record the
/// answers of that handler; or, while the program is run again, they answer from the log, and the
/// handler is not called.
///
/// `Via` describes the recorder, given the evidence<E>& e that such a clause belongs to:
///
///     home(e)                     the prompt that the recorder belongs to
///     log(e)                      the log of the performing program
///     target(e)                   the handler further out, which exists
///     beyond(e)                   the recorder in front of the next handler, or null
///     await_answer(e, at, slot)   notes that a later resume will fill in the answer
///     answer_is_here(e)           notes that the answer has been filled in already
///     end_diverged(e, leaf, at)   ends the diverged program; returns the frame to run next
namespace weft::detail {

/// Fills in the answer, or the exception, if the handler answers at once.  False if it does not.
template <class E, class O>
bool answered_at_once(evidence<E>& e, O& o, result_slot<typename O::result>& waiting) {
  auto const& clause = e.template clause<O>();
  if (!clause.at_once) return clause.attempt && clause.attempt(e, o, waiting);
  try {
    waiting.set_from(clause.at_once, e, static_cast<passed<O>>(o), waiting.where);
  } catch (...) {
    waiting.fail(std::current_exception());
  }
  return true;
}

template <class Via, class E, class O>
bool forward_attempt(evidence<E>& e, O& o, result_slot<typename O::result>& waiting) {
  replay_log& log = Via::log(e);
  site const at = site_of(o, waiting.where);
  if (log.replaying()) return log.replay(at, waiting);
  if (!answered_at_once<E, O>(Via::target(e), o, waiting)) return false;
  record_answer<O>(log, at, waiting);
  return true;
}

/// Answers an operation that a value clause performs outward: from the log while it is replayed;
/// else by `ask`, and records the answer.  A divergence is thrown into the value clause, and again
/// when the program ends.
template <class O, class Ask>
typename O::result recorded_when_asked(replay_log& log, passed<O> o, std::source_location where,
                                       Ask ask) {
  result_slot<typename O::result> a(where);
  site const at = site_of<O>(o, where);
  if (log.replaying()) {
    if (!log.replay(at, a)) throw log.divergence(at);
    return a.take();
  }
  try {
    a.set_from(ask, static_cast<passed<O>>(o));
  } catch (...) {
    a.fail(std::current_exception());
  }
  record_answer<O>(log, at, a);
  return a.take();
}

template <class Via, class E, class O>
struct asking_outward {
  evidence<E>& e;
  std::source_location where;
  typename O::result operator()(passed<O> o) const {
    return ask_outward<E, O>(Via::target(e), static_cast<passed<O>>(o), where);
  }
};
template <class Via, class E, class O>
typename O::result forward_asked(evidence<E>& e, passed<O> o, std::source_location where) {
  return recorded_when_asked<O>(Via::log(e), static_cast<passed<O>>(o), where,
                                asking_outward<Via, E, O>{e, where});
}

template <class Via, class E, class O>
std::coroutine_handle<> forward_suspending(evidence<E>& e, O& o, std::coroutine_handle<> leaf,
                                           result_slot<typename O::result>& waiting) {
  site const at = site_of(o, waiting.where);
  if (Via::log(e).diverged()) return Via::end_diverged(e, leaf, at);
  Via::await_answer(e, at, waiting);
  try {
    auto& outer = Via::target(e);
    return outer.template clause<O>().control(outer, o, leaf, waiting);
  } catch (...) {  // nothing was suspended: thrown at the operation
    waiting.fail(std::current_exception());
    Via::answer_is_here(e);
    throw;
  }
}

template <class Via, class E, class Operations = typename E::operations>
struct forwarding_table;
template <class Via, class E, class... Os>
struct forwarding_table<Via, E, op_list<Os...>> {
  static constexpr clause_table<E, op_list<Os...>> value{
      clause_entry<E, Os>{nullptr, forward_attempt<Via, E, Os>, forward_asked<Via, E, Os>,
                          forward_suspending<Via, E, Os>}...,
      Via::home, Via::beyond};
};

}  // namespace weft::detail
