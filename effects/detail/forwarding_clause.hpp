// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <exception>
#include <source_location>

#include "weft/effects/detail/evidence.hpp"
#include "weft/effects/detail/replay/replay_log.hpp"
#include "weft/effects/outer.hpp"

/// Clauses between a program that can be run again and a handler further out: they record the
/// answers of that handler; or, while the program is run again, they answer from the log, and the
/// handler is not called.
///
/// A recorder is an object with these members:
///
///     log()                    the log of the performing program
///     target()                 the handler further out, which exists
///     await_answer(at, slot)   notes that a later resume will fill in the answer
///     answer_is_here()         notes that the answer has been filled in already
///     end_diverged(leaf, at)   ends the diverged program; returns the frame to run next
namespace weft::detail {

template <class E, class O, class Recorder>
bool forward_attempt(Recorder const& r, O& o, result_slot<typename O::result>& waiting) {
  replay_log& log = r.log();
  site const at = site_of(o, waiting.where);
  if (log.replaying()) return log.replay(at, waiting);
  if (!answered_at_once<E, O>(r.target(), o, waiting)) return false;
  record_answer<O>(log, at, waiting);
  return true;
}

/// Answers an operation that a value clause performs outward: from the log while it is replayed;
/// else by `ask`, and records the answer.  If the log has another operation here, throws
/// replay_divergence into the value clause; it is thrown again when the program ends.
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

template <class E, class O, class Recorder>
typename O::result forward_asked(Recorder const& r, passed<O> o, std::source_location where) {
  return recorded_when_asked<O>(r.log(), static_cast<passed<O>>(o), where, [&](passed<O> p) {
    return ask_outward<E, O>(r.target(), static_cast<passed<O>>(p), where);
  });
}

/// Suspends by `suspend()`; the answer to the operation `at` is recorded when a later resume fills
/// it in.  If suspend() throws, nothing was suspended: the error is recorded, and thrown at the
/// operation.
template <class Recorder, class Answer, class Suspend>
std::coroutine_handle<> suspend_recorded(Recorder& r, site const& at, Answer& waiting,
                                         Suspend suspend) {
  r.await_answer(at, waiting);
  try {
    return suspend();
  } catch (...) {
    waiting.fail(std::current_exception());
    r.answer_is_here();
    throw;
  }
}
template <class E, class O, class Recorder>
std::coroutine_handle<> forward_suspending(Recorder const& r, O& o, std::coroutine_handle<> leaf,
                                           result_slot<typename O::result>& waiting) {
  site const at = site_of(o, waiting.where);
  if (r.log().diverged()) return r.end_diverged(leaf, at);
  return suspend_recorded(r, at, waiting, [&] {
    auto& outer = r.target();
    return outer.template clause<O>().control(outer, o, leaf, waiting);
  });
}

}  // namespace weft::detail
