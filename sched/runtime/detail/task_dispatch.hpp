// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <exception>
#include <type_traits>

#include "weft/effects/handle.hpp"
#include "weft/sched/base/detail/forkable_process.hpp"
#include "weft/sched/runtime/detail/clause_dispatch.hpp"
#include "weft/sched/tasks/detail/scope_core.hpp"
#include "weft/sched/tasks/tasking.hpp"

namespace weft::detail {

/// How an operation of tasking<> reaches the scheduler.  The process that performs the operation
/// may go on with one of its tasks, as a call, and is then not suspended.
template <class S, class O>
struct tasking_dispatch : clause_dispatch<S, tasking<>, O> {
  using E = tasking<>;
  using common = clause_dispatch<S, E, O>;
  using R = typename O::result;

  static constexpr bool starts = std::is_same_v<O, E::start>;
  static constexpr bool awaits = requires(O& o) { o.how; };
  static bool attempt_await(evidence<E>& e, O& o, result_slot<R>& waiting) {
    S& s = common::scheduler_of(e);
    common::require_running(s, waiting.where);
    if (keeps_log(s.running())) return answer_from_log(s, o, waiting);
    return answer_if_ended(o, waiting);
  }
  static bool answer_if_ended(O& o, result_slot<R>& waiting) {
    for (auto* t = o.how.first; t; t = t->next)
      if (!t->has_ended()) return false;
    waiting.set_word(1);  // the answer true of await_until
    return true;
  }
  static std::coroutine_handle<> control(evidence<E>& e, O& o, std::coroutine_handle<> leaf,
                                         result_slot<R>& waiting) {
    S& s = common::scheduler_of(e);
    if constexpr (std::is_same_v<O, E::wait> && lazy_backend<typename S::backend_type>)
      if (can_call_tasks(s)) [[likely]] {
        join& j = *o.what;
        j.owner_frame = leaf;
        j.waiting = &waiting;
        return do_all(s, j);
      }
    return perform(s, o, leaf, waiting);
  }
  /// control() serves here, too: its short cut is not for a process with a log (can_call_tasks()).
  static std::coroutine_handle<> control_slow(evidence<E>& e, O& o, std::coroutine_handle<> leaf,
                                              result_slot<R>& waiting) {
    return control(e, o, leaf, waiting);
  }
  /// Performs any operation of tasking<>, except the wait for a join by a process that can call its
  /// tasks.
  [[gnu::noinline]] static std::coroutine_handle<> perform(S& s, O& o, std::coroutine_handle<> leaf,
                                                           result_slot<R>& waiting) {
    common::require_running(s, waiting.where);
    if constexpr (awaits) {
      if constexpr (std::is_same_v<O, E::await>) {
        o.how.leaf = leaf;
        o.how.waiting = &waiting;
        o.how.operation = &info_of<O>;
        if (auto const called = call_task(s, o.how)) return called;
      }
      return common::suspend_and_perform(s, o, leaf, waiting);
    } else {
      if (prompt::innermost() != &s || keeps_log(s.running())) [[unlikely]]
        if (auto const diverged = require_suspendable(s, o, leaf, waiting)) return diverged;
      if constexpr (std::is_same_v<O, E::enter>) {
        return enter_scope(s, o, leaf, waiting);
      } else {
        auto& w = *o.what;
        // That of a scope was set when the scope was opened, and its tasks may be reading it.
        if constexpr (std::is_same_v<O, E::wait>) w.owner_frame = leaf;
        w.waiting = &waiting;
        if constexpr (std::is_same_v<O, E::wait>) {
          begin_join(s, s.running(), w);
          return do_all_slow(s, w, false);
        } else {
          w.operation = &info_of<O>;
          return leave_scope(s, w);
        }
      }
    }
  }
  /// Throws if the process cannot be suspended here.  The process may have to be suspended later,
  /// while it does tasks or waits for them, and then it is too late to throw.  Returns the frame to
  /// resume if the process has diverged from its log, else null.
  [[gnu::noinline]] static std::coroutine_handle<> require_suspendable(S& s, O& o,
                                                                       std::coroutine_handle<> leaf,
                                                                       result_slot<R>& waiting) {
    process& p = s.running();
    if (keeps_log(p))
      if (auto const diverged = before_recording(s, o, leaf, waiting.where)) return diverged;
    if (!prompt::frames_may_wait()) throw_frames_are_fixed(site_of(o, waiting.where));
    if (!p.suspend_at(info_of<O>, leaf, waiting, s)) common::throw_crossed(s, o, waiting.where);
    p.resume_unanswered(s);
    return {};
  }

  template <class Way>
  static constexpr clause_entry<E, O> entry() {
    if constexpr (starts)
      return {.attempt = Way::at_once, .ask = nullptr, .control = Way::control_in_turn};
    else if constexpr (awaits)
      return {.attempt = Way::attempt_await, .ask = nullptr, .control = Way::control};
    else
      return {.attempt = nullptr, .ask = nullptr, .control = Way::control};
  }
};

template <class S, class O>
struct dispatch_of<S, tasking<>, O> : tasking_dispatch<S, O> {};

}  // namespace weft::detail
