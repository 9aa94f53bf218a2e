// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <exception>
#include <source_location>
#include <type_traits>
#include <utility>

#include "weft/effects/handle.hpp"
#include "weft/effects/proc.hpp"
#include "weft/sched/base/detail/forkable_process.hpp"
#include "weft/sched/base/errors.hpp"
#include "weft/sched/base/process.hpp"
#include "weft/sched/base/scheduled.hpp"

/// Operations of processes that keep a log: the log answers them, or records the answer.  Also the
/// checks that refuse an operation because of the frames that perform it.
namespace weft::detail {

template <class S>
void count_if_sealed(S& s, forkable_process& p) noexcept {
  if (p.log().is_full() && !std::exchange(p.sealed(), true)) --s.here().repeatable;
}
/// Notes where the running process, which is forkable, will wait.  Returns the frame to resume if
/// the process has diverged: performs another operation than its log says.  Else null.
template <class S, class O>
[[gnu::noinline]] std::coroutine_handle<> before_recording(S& s, O const& o,
                                                           std::coroutine_handle<> leaf,
                                                           std::source_location where) {
  auto& p = static_cast<forkable_process&>(s.running());
  site const at = site_of(o, where);
  if (p.log().diverged()) return s.end_diverged(leaf, at);
  if constexpr (std::is_same_v<O, proc::fork>)
    if (p.log().is_full()) p.log().throw_unforkable(at);
  if constexpr (is_sealing<O>) p.log().seal(at);
  count_if_sealed(s, p);
  p.waits_at(at);
  return {};
}
[[noreturn, gnu::cold, gnu::noinline]] inline void throw_has_no_log(site const& at) {
  throw unforkable("weft: " + at.text() +
                   " would have the process run again, but it keeps no log: start it with "
                   "spawn(forkable, f), and the first one without {.forkable = false}");
}
/// Refuses the fork of a process without a log.
template <class S>
[[noreturn]] void refuse_fork(S& s, site const& at) {
  S::observer::on_fork_refused(s);
  throw_has_no_log(at);
}
[[noreturn, gnu::cold, gnu::noinline]] inline void throw_frames_are_fixed(site const& at) {
  throw frames_in_use(
      "weft: " + at.text() +
      " would make a process wait, or continue on another thread, inside a body that is "
      "resumed bitwise: its frames are copied, and must stay where they are");
}
/// Called before the running process is suspended at `o`.  Returns the frame to resume instead, or
/// null.  Throws if that process cannot wait there, or needs a log and has none.
template <class S, class O>
[[gnu::always_inline]] inline std::coroutine_handle<> before_suspending(
    S& s, O const& o, std::coroutine_handle<> leaf, std::source_location where) {
  static constexpr scheduling_rule how = scheduling_of<O>;
  if (s.running().is_forkable()) {
    if (auto const diverged = before_recording(s, o, leaf, where)) return diverged;
  } else if constexpr (how.needs_log) {
    refuse_fork(s, site_of(o, where));
  }
  if constexpr (how.waits_in_frame || (S::on_several_threads && !how.ends_process))
    if (!prompt::frames_may_wait()) [[unlikely]]
      throw_frames_are_fixed(site_of(o, where));
  return {};
}
/// Records in the log of the running process that an operation has thrown the current exception.
template <class S>
void record_failure(S& s, site const& at) {
  s.log_of_running().record_error(at, std::current_exception());
}

/// Answers the operation from the log, if the running process is being replayed.  False if it is
/// not, or if the log has no answer to it.
template <class S, class O>
[[nodiscard]] bool answer_from_log(S& s, O const& o, result_slot<typename O::result>& waiting) {
  replay_log& log = s.log_of_running();
  return log.replaying() && log.replay(site_of(o, waiting.where), waiting);
}
/// Answers an operation that cannot suspend its process, because ordinary code stands in between.
/// False if the operation has to wait or ends the step, or if the process keeps a log.
template <class S, class O>
[[nodiscard]] bool answers_across(S& s, O& o, result_slot<typename O::result>& waiting) {
  if constexpr (scheduling_of<O>.step == step_kind::ends_if_it_waits)
    return !s.running().is_forkable() && attempt(s, o, waiting);
  return false;
}

/// Called when an attempt has answered an operation of `E`.  Returns whether the answer stands; an
/// overload may find that it does not (receive_clauses.hpp).
template <bool Records, class S, class E, class O>
[[nodiscard]] constexpr bool confirm(S&, evidence<E>&, O const&,
                                     result_slot<typename O::result>&) noexcept {
  return true;
}

/// Puts the log in front of the dispatch `D` of an operation.  Whichever evidence the frames have,
/// the process that runs them may keep a log or not: a handler may have kept frames of one process,
/// which another process has resumed.
template <class D, bool Records>
struct log_dispatch : D {
  using S = typename D::scheduler;
  using E = typename D::effect;
  using O = typename D::operation;
  using R = typename O::result;

  static bool at_once(evidence<E>& e, O& o, result_slot<R>& waiting) {
    S& s = D::scheduler_of(e);
    D::require_running(s, waiting.where);
    if (!s.running().is_forkable()) [[likely]]
      return D::at_once(e, o, waiting);
    return (D::goes_on(s) || s.log_of_running().replaying()) && answer_by_log(s, o, waiting);
  }
  /// A process that keeps a log is always suspended, unless the log has the answer.
  static bool attempt_at_once(evidence<E>& e, O& o, result_slot<R>& waiting) {
    S& s = D::scheduler_of(e);
    D::require_running(s, waiting.where);
    if (s.running().is_forkable()) [[unlikely]]
      return attempt_replay(e, o, waiting);
    return D::attempt_at_once(e, o, waiting) && confirm<Records>(s, e, o, waiting);
  }
  static bool attempt_replay(evidence<E>& e, O& o, result_slot<R>& waiting) {
    return answer_from_log(D::scheduler_of(e), o, waiting);
  }
  static std::coroutine_handle<> control_in_turn(evidence<E>& e, O& o, std::coroutine_handle<> leaf,
                                                 result_slot<R>& waiting) {
    S& s = D::scheduler_of(e);
    if (!s.running().is_forkable()) return D::control_in_turn(e, o, leaf, waiting);
    replay_log const& log = s.log_of_running();
    if (log.replaying())  // at_once() has found no answer in the log
      return s.end_diverged(leaf, site_of(o, waiting.where));
    if (D::is_refused(s, leaf, waiting)) return s.refuse(s.running());
    (void)answer_by_log(s, o, waiting);
    // Until the log is over, the process keeps its turn: another turn would have to be recorded.
    return log.is_over() ? D::give_way(s, leaf, waiting) : leaf;
  }
  static bool answer(S& s, O& o, result_slot<R>& waiting) {
    return s.running().is_forkable() ? answer_by_log(s, o, waiting) : answer_now(s, o, waiting);
  }
  /// Answers from the log; or performs the operation, and records the answer.
  [[gnu::noinline]] static bool answer_by_log(S& s, O& o, result_slot<R>& waiting) {
    replay_log& log = s.log_of_running();
    site const at = site_of(o, waiting.where);
    if (log.replaying()) {
      if constexpr (D::how.is_repeated) on(s, o);
      return log.replay(at, waiting);
    }
    try {
      if (!answer_now(s, o, waiting)) return false;
    } catch (...) {
      waiting.fail(std::current_exception());
    }
    if constexpr (is_sealing<O>) {
      log.seal(at);
      count_if_sealed(s, static_cast<forkable_process&>(s.running()));
    } else {
      log.record(at, waiting);
    }
    return true;
  }
};
/// The dispatch under the evidence of processes that keep no log.
template <class D>
using unrecorded = log_dispatch<D, false>;
/// The dispatch under the evidence of processes that keep a log: without short cuts, which do not
/// ask for the log.
template <class D>
struct recorded : log_dispatch<D, true> {
  using E = typename D::effect;
  using O = typename D::operation;
  static std::coroutine_handle<> control(evidence<E>& e, O& o, std::coroutine_handle<> leaf,
                                         result_slot<typename O::result>& waiting) {
    return D::control_slow(e, o, leaf, waiting);
  }
  template <class Way>
  static constexpr clause_entry<E, O> entry() {
    clause_entry<E, O> all = D::template entry<Way>();
    if (!all.attempt) all.attempt = Way::attempt_replay;
    return all;
  }
};

}  // namespace weft::detail
